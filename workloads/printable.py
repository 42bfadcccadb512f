"""Make texts of files safe to print, parse JSON files within bounds, and suggest known words."""

import json
import math
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final


def did_you_mean(word: object, known: Iterable[str], otherwise: str = "choose one of them") -> str:
    """Return advice about an unknown word: the closest known one, or else `otherwise`."""
    close = get_close_matches(str(word), list(known), n=1)
    return f"write {close[0]} if that is meant" if close else otherwise


REPLACEMENT: Final = "\ufffd"
_STEERING: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co"})
"""Unicode categories of control, format, line-separating, surrogate and private-use characters."""


def printable(text: str) -> str:
    """Return the text on one line; characters that steer a terminal or are invisible become a mark.

    A tab stays. A line feed becomes a mark, because the name of a file could forge a line of output.
    """
    return _marked(text, "\t")


def printable_lines(text: str) -> str:
    """Return the text like `printable`, and keep its lines."""
    return _marked(text, "\t\n")


def is_printable(text: str) -> bool:
    """True if no character of a text steers a terminal or is invisible."""
    return printable_lines(text) == text


def first_line(error: BaseException, most: int) -> str:
    """Return the first line of an error's message, or its class if it has none."""
    words = str(error).strip().splitlines() or [type(error).__name__]
    return printable(words[0][:most])


def shortened(text: str, most: int = 60) -> str:
    """Return the beginning of a text, fit for a sentence."""
    return printable(text if len(text) <= most else f"{text[: most - 3]}...")


def _marked(text: str, kept: str) -> str:
    if text.isprintable():  # nearly all texts, without a look at each letter
        return text
    return "".join(
        REPLACEMENT if letter not in kept and unicodedata.category(letter) in _STEERING else letter
        for letter in text
    )


DEPTH_MAX: Final = 100
"""Levels of lists and objects; our manifests have fewer than ten."""
INTEGER_MAX: Final = 2**63 - 1
"""Largest integer of a table's column."""


def parse_json(text: bytes) -> object:
    """Return the value of a JSON text; ValueError if it is invalid, or has too large a number."""
    try:
        return json.loads(
            text.decode("utf-8"), parse_int=_integer, parse_float=_finite, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError("it has too many lists and objects inside each other") from None
    except MemoryError:
        raise ValueError("it needs more memory than this process may use") from None


def harmless(value: object, levels: int = DEPTH_MAX) -> object:
    """Replace characters in its texts that steer a terminal; ValueError if it has more than these levels."""
    if isinstance(value, str):
        return printable_lines(value)
    if isinstance(value, list | dict) and not levels:
        raise ValueError(f"it has more than {DEPTH_MAX} lists and objects inside each other")
    if isinstance(value, list):
        return [harmless(item, levels - 1) for item in value]
    if isinstance(value, dict):
        return {printable(str(key)): harmless(item, levels - 1) for key, item in value.items()}
    return value


def _integer(digits: str) -> int:
    value = int(digits)
    if abs(value) > INTEGER_MAX:
        raise ValueError(f"an integer of {len(digits)} digits is larger than any of a run")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is larger than any that a computer holds")
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")
