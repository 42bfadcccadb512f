"""Apply `--set`, factors and scales to an experiment's values."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from rogue.harness.errors import ConfigError, Problem
from rogue.harness.experiment import yaml_text
from rogue.harness.experiment.document import Document, with_setting
from rogue.harness.experiment.yaml_text import YamlError, format_path, parse_yaml
from rogue.workloads.printable import did_you_mean

Scale = Literal["paper", "quick"]
PAPER: Final[Scale] = "paper"
SCALE: Final = "scale"
SCALES: Final = "scales"
WITHOUT_WORDS: Final[Mapping[str, object]] = {"repetitions": 1}
"""The meaning of another scale in a file that does not define it."""


def scaled_values(document: Document) -> list[tuple[str, object, str]]:
    """Return what the document's scale changes: key, value, and where that was written.

    Nothing for `paper`. What is no scale, and what is no mapping, is left to the check of the whole document.
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


FACTORS: Final = "factors"

_PATH: Final = re.compile(r"[a-z0-9_]+(\[[0-9]{1,6}\])*(\.[a-z0-9_]+(\[[0-9]{1,6}\])*)*")
_PART: Final = re.compile(r"[a-z0-9_]+|\[[0-9]+\]")


def parse_path(text: str) -> yaml_text.Path | None:
    """Parts of ``traffic[0].workload.size``; None if it is not such a path."""
    if not _PATH.fullmatch(text):
        return None
    parts = _PART.findall(text)
    return tuple(int(part[1:-1]) if part.startswith("[") else part for part in parts)


def apply_settings(document: Document, settings: Sequence[str]) -> Document:
    """Apply `--set key=value` one after the other; setting a factor's key replaces the factor's values.

    The scale comes first, wherever it stands, so that it never undoes another setting.
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
    """Put a value where a dotted key says, into the list of its values if it is a factor."""
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
