"""Make text from files safe to print, and suggest known words."""

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
