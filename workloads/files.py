"""Keys of an experiment that name a file of data."""

from dataclasses import dataclass
from typing import Protocol

from pydantic import PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from rogue.workloads.specification import mistake


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file by its name as written and by its content."""

    name: str
    sha256: str

    def __str__(self) -> str:
        return self.name


class Files(Protocol):
    """The context of a validation: reads files beside an experiment."""

    def read(self, kind: type, name: str) -> object:
        """Return the content of a file of that kind; raises a mistake with line and column."""


@dataclass(frozen=True, slots=True)
class _Read:
    kind: type
    named: str

    def __call__(self, value: object, info: ValidationInfo) -> object:
        if isinstance(value, self.kind):
            return value
        if not isinstance(value, str) or not value:
            raise mistake(f"the name of {self.named}", "name one, relative to this file")
        if info.context is None:
            raise mistake("no file of data here", "name it in an experiment", value)
        files: Files = info.context
        return files.read(self.kind, value)


def from_file(kind: type, named: str) -> tuple[object, ...]:
    """Return annotations of a field that is read from a file and dumped as the file's name."""
    return (
        PlainValidator(_Read(kind, named)),
        PlainSerializer(str, return_type=str),
        WithJsonSchema({"type": "string", "examples": ["file"]}),
    )
