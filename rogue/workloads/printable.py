"""Text that somebody else wrote, fit for a terminal and for files."""

import re
from typing import Final

REPLACEMENT: Final = "\ufffd"
_STEERING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but tab and newline, marks that turn the direction of writing, halves of pairs."""


def printable(text: str) -> str:
    """Return the text with a mark in place of all that steers a terminal, or that no file can hold."""
    return _STEERING.sub(REPLACEMENT, text)


def is_printable(text: str) -> bool:
    """Whether nothing in the text steers a terminal."""
    return _STEERING.search(text) is None


def first_line(error: BaseException, most: int) -> str:
    """Return what an error says in its first line, or its kind if it says nothing."""
    words = str(error).strip().splitlines() or [type(error).__name__]
    return printable(words[0][:most])


def shortened(text: str, most: int = 60) -> str:
    """Return the beginning of a text, fit for a sentence."""
    return printable(text if len(text) <= most else f"{text[: most - 3]}...")
