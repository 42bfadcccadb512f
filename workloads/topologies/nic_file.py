"""NIC profiles that are measured, in a file beside an experiment."""

from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from pydantic import PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from rogue.workloads.files import DataFile, Files
from rogue.workloads.printable import did_you_mean
from rogue.workloads.specification import mistake

NicName = Literal["cx3pro", "cx4", "ideal", "soft_roce"]
SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class NicOfFile:
    """A NIC profile from a file. Two are equal if their files are."""

    file: DataFile
    like: NicName = field(compare=False)
    """The profile that has all other values."""
    values: tuple[tuple[str, int], ...] = field(repr=False, compare=False)
    """Measured values by the fields of a profile."""

    def __str__(self) -> str:
        return str(self.file)


def _named_or_read(value: object, info: ValidationInfo) -> object:
    names = get_args(NicName)
    if value is None or value in names or isinstance(value, NicOfFile):
        return value
    if not isinstance(value, str) or not value.endswith(SUFFIXES):
        expected = f"one of {', '.join(names)}, or a YAML file with a measured profile"
        raise mistake(expected, did_you_mean(value, names, "choose one of them"))
    if info.context is None:
        raise mistake("no file of data here", "name it in an experiment", value)
    files: Files = info.context
    return files.read(NicOfFile, value)


def _name(value: NicName | NicOfFile | None) -> str | None:
    return None if value is None else str(value)


NIC_OR_FILE: Final = (
    PlainValidator(_named_or_read),
    PlainSerializer(_name, return_type=str | None),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "examples": [*get_args(NicName), "file"]}, {"type": "null"}]}
    ),
)
"""Annotations of a field that names a profile, or a file with one."""
