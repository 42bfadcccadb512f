"""An experiment file as it was written: its data, and where each part of it stands."""

import copy
import hashlib
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment import yaml_text
from rogue.harness.experiment.yaml_text import YamlError, format_path, parse_yaml

EXAMPLE = "experiments/quickstart.yaml"


@dataclass(frozen=True, slots=True)
class Document:
    """Data of an experiment file, before it is checked."""

    file: str
    sha256: str
    data: Mapping[str, object]
    places: Mapping[yaml_text.Path, str]
    """Where each part was written: a line of the file, or the option that set it."""

    def place(self, path: yaml_text.Path) -> str:
        """Where a part, or the nearest thing around it, was written."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return self.file

    def written(self, path: yaml_text.Path) -> object:
        """What a person wrote there; None if nothing."""
        value: object = self.data
        for part in path:
            try:
                value = _child(value, part, path)
            except LookupError:
                return None
        return value

    def as_written(self, path: yaml_text.Path) -> yaml_text.Path:
        """Path without the parts that a short form leaves out."""
        kept: list[str | int] = []
        value: object = self.data
        for depth, part in enumerate(path, start=1):
            try:
                value = _child(value, part, path)
            except LookupError:
                if depth == len(path) and isinstance(value, dict):
                    kept.append(part)
            else:
                kept.append(part)
        return tuple(kept)


def read_document(file: str) -> Document:
    """Read an experiment file; any fault of it is one ConfigError."""
    content = _read_bytes(file)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        got = f"the byte {content[error.start]:#04x} at offset {error.start}"
        raise _file_error(file, got, "UTF-8 text", "save the file as UTF-8") from error
    try:
        parsed = parse_yaml(text)
    except YamlError as error:
        place = f"{file}:{error.line}"
        raise ConfigError([Problem(place, error.key, error.got, error.expected, error.advice)]) from error
    if not isinstance(parsed.value, dict):
        got = "an empty file" if parsed.value is None else show(parsed.value)
        raise _file_error(file, got, "a mapping with name, topology, workload ...", f"start from {EXAMPLE}")
    places = {path: f"{file}:{line}" for path, line in parsed.lines.items()}
    return Document(file, hashlib.sha256(content).hexdigest(), parsed.value, places)


def _read_bytes(file: str) -> bytes:
    path = Path(file)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise _file_error(
                file, "a directory", "an experiment file", f"name a file in it, such as {EXAMPLE}"
            )
        if not stat.S_ISREG(mode):
            raise _file_error(file, "a device or pipe", "a regular file", "save the experiment to a file")
        with path.open("rb") as stream:
            content = stream.read(yaml_text.SIZE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        advice = "see `rogue list experiments` for those there are"
        raise _file_error(file, f"'{reason}' on opening it", "a readable experiment file", advice) from error
    if len(content) > yaml_text.SIZE_BYTES_MAX:
        got = f"more than {yaml_text.SIZE_BYTES_MAX} bytes"
        raise _file_error(file, got, "an experiment file of a few lines", f"start from {EXAMPLE}")
    return content


def _file_error(file: str, got: str, expected: str, advice: str) -> ConfigError:
    return ConfigError([Problem(file, "", got, expected, advice)])


def show(value: object) -> str:
    """A value as a short piece of an error message."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def with_setting(document: Document, path: yaml_text.Path, value: object, place: str) -> Document:
    """Return a copy in which one value is replaced or added.

    Raises LookupError, with the part that is missing, if there is nothing to put the value into.
    """
    data = copy.deepcopy(dict(document.data))
    parent: object = data
    for depth, part in enumerate(path[:-1]):
        parent = _child(parent, part, path[: depth + 1])
    if isinstance(parent, list):
        _child(parent, path[-1], path)
    elif not isinstance(parent, dict) or not isinstance(path[-1], str):
        raise LookupError(format_path(path))
    parent[path[-1]] = value  # type: ignore[index]
    places = {key: where for key, where in document.places.items() if key[: len(path)] != path}
    return Document(document.file, document.sha256, data, {**places, path: place})


def _child(parent: object, part: str | int, path: Sequence[str | int]) -> object:
    if isinstance(parent, dict) and part in parent:
        return parent[part]
    if isinstance(parent, list) and isinstance(part, int) and part < len(parent):
        return parent[part]
    raise LookupError(format_path(tuple(path)))
