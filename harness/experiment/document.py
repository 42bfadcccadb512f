"""Read an experiment file with the place of each part, and apply settings to it."""

import copy
import hashlib
import logging
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from rogue.harness.data import yaml_text
from rogue.harness.data.yaml_text import YamlError, format_path, parse_yaml
from rogue.harness.errors import ConfigError, Problem
from rogue.workloads.printable import did_you_mean

_LOGGER: Final = logging.getLogger(__name__)

EXAMPLE = "experiments/quickstart.yaml"

Scale = Literal["paper", "quick"]
PAPER: Final[Scale] = "paper"
SCALE: Final = "scale"
SCALES: Final = "scales"
WITHOUT_WORDS: Final[Mapping[str, object]] = {"repetitions": 1}
"""The meaning of another scale in a file that does not define it."""
FACTORS: Final = "factors"
_PATH: Final = re.compile(r"[a-z0-9_]+(\[[0-9]{1,6}\])*(\.[a-z0-9_]+(\[[0-9]{1,6}\])*)*")
_PART: Final = re.compile(r"[a-z0-9_]+|\[[0-9]+\]")


@dataclass(frozen=True, slots=True)
class Document:
    """Data of an experiment file, before it is checked."""

    file: str
    sha256: str
    data: Mapping[str, object]
    places: Mapping[yaml_text.Path, str]
    """Where each part was written: a line of the file, or the option that set it."""

    def place(self, path: yaml_text.Path) -> str:
        """Return the place of a part, or of the nearest part around it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return self.file

    def written(self, path: yaml_text.Path) -> object:
        """Return the written value; None if there is none."""
        value: object = self.data
        for part in path:
            try:
                value = _child(value, part, path)
            except LookupError:
                return None
        return value

    def as_written(self, path: yaml_text.Path) -> yaml_text.Path:
        """Return a path without the parts that a short form leaves out."""
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
    text = read_text(file)
    try:
        parsed = parse_yaml(text)
    except YamlError as error:
        place = f"{file}:{error.line}"
        raise ConfigError([Problem(place, error.key, error.got, error.expected, error.advice)]) from error
    if not isinstance(parsed.value, dict):
        got = "an empty file" if parsed.value is None else show(parsed.value)
        raise _file_error(file, got, "a mapping with name, topology, workload ...", f"start from {EXAMPLE}")
    places = {path: f"{file}:{line}" for path, line in parsed.lines.items()}
    return Document(file, hashlib.sha256(text.encode()).hexdigest(), parsed.value, places)


def read_text(file: str) -> str:
    """Read an experiment file as text; ConfigError if it is none."""
    content = _read_bytes(file)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        got = f"the byte {content[error.start]:#04x} at offset {error.start}"
        raise _file_error(file, got, "UTF-8 text", "save the file as UTF-8") from error


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
        _LOGGER.debug("reads %s", file)
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
    """Return a value as a short piece of an error message."""
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


def scaled_values(document: Document) -> list[tuple[str, object, str]]:
    """Return what the document's scale changes: key, value, and where that was written.

    Nothing for `paper`. The check of the whole document reports unknown scales and wrong types.
    """
    scale = document.data.get(SCALE, PAPER)
    if scale == PAPER or scale not in get_args(Scale):
        return []
    scales = document.data.get(SCALES)
    values = scales.get(scale) if isinstance(scales, dict) else None
    if values is None:
        return [(key, value, document.place((SCALE,))) for key, value in WITHOUT_WORDS.items()]
    if not isinstance(values, dict):
        return []
    return [(str(key), value, document.place((SCALES, str(scale), key))) for key, value in values.items()]


def parse_path(text: str) -> yaml_text.Path | None:
    """Return the parts of ``traffic[0].workload.size``; None if it is not such a path."""
    if not _PATH.fullmatch(text):
        return None
    parts = _PART.findall(text)
    return tuple(int(part[1:-1]) if part.startswith("[") else part for part in parts)


def apply_settings(document: Document, settings: Sequence[str]) -> Document:
    """Apply `--set key=value` one after the other; setting a factor's key replaces the factor's values.

    The scale comes first in any order of settings, so that it never undoes another one.
    """
    for setting in settings:
        if _is_scale(setting):
            document = _apply(document, setting)
    for key, value, place in scaled_values(document):
        document = _put(document, key, value, place)
    for setting in settings:
        if not _is_scale(setting):
            document = _apply(document, setting)
    return document


def _is_scale(setting: str) -> bool:
    return setting.partition("=")[0] == SCALE


def _apply(document: Document, setting: str) -> Document:
    place = f"--set {setting}"
    key, equals, text = setting.partition("=")
    if not equals or parse_path(key) is None:
        raise _error(place, "", repr(setting), "key=value", "write for example --set workload.senders=4")
    try:
        value = parse_yaml(text).value
    except YamlError as error:
        raise _error(place, key, error.got, error.expected, error.advice) from error
    return _put(document, key, value, place)


def _put(document: Document, key: str, value: object, place: str) -> Document:
    """Set the value of a dotted key, or the list of its values if it is a factor."""
    path = parse_path(key)
    if path is None:
        raise _error(place, "", repr(key), "a dotted key", "write for example workload.senders")
    factors = document.data.get(FACTORS)
    if isinstance(factors, dict) and key in factors:
        path, value = (FACTORS, key), value if isinstance(value, list) else [value]
    try:
        return with_setting(document, path, value, place)
    except LookupError as error:
        otherwise = f"{document.file} has no {error.args[0]} to set it in"
        keys = (each for each in document.places if each[:1] != (SCALES,))
        known = () if path[0] in document.data else map(format_path, keys)
        advice = did_you_mean(key, known, otherwise)
        raise _error(place, key, "a path that leads nowhere", "a key of the experiment", advice) from error


def _error(place: str, key: str, got: str, expected: str, advice: str) -> ConfigError:
    return ConfigError([Problem(place, key, got, expected, advice)])
