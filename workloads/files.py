"""Keys of an experiment that name a file of data; who reads the file says what is in it, or what is wrong."""

from dataclasses import dataclass
from typing import Protocol

from pydantic import PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from rogue.workloads.specification import mistake


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file by its name, as written, and its content; what is read from it carries this along."""

    name: str
    sha256: str

    def __str__(self) -> str:
        return self.name


class Files(Protocol):
    """What a validation's context is: reads files that stand beside an experiment."""

    def read(self, kind: type, name: str) -> object:
        """What a file of that kind says; raises a mistake that has line and column."""


@dataclass(frozen=True, slots=True)
class _Read:
    kind: type
    named: str

    def __call__(self, value: object, info: ValidationInfo) -> object:
        if isinstance(value, self.kind):
            return value
        if not isinstance(value, str) or not value:
            raise mistake(f"the name of {self.named}", "name one, from the place of this file")
        if info.context is None:
            raise mistake("no file of data here", "name it in an experiment", value)
        files: Files = info.context
        return files.read(self.kind, value)


def from_file(kind: type, named: str) -> tuple[object, ...]:
    """How a field is annotated whose value is read from a file, and written down as the file's name."""
    return (
        PlainValidator(_Read(kind, named)),
        PlainSerializer(str, return_type=str),
        WithJsonSchema({"type": "string", "examples": ["file"]}),
    )
