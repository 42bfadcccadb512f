"""Make text from files safe to print, and suggest known words."""

import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final


def did_you_mean(word: object, known: Iterable[str], otherwise: str = "choose one of them") -> str:
    """What to do about a word that is none of those known: write the closest one, or something else."""
    close = get_close_matches(str(word), list(known), n=1)
    return f"write {close[0]} if that is meant" if close else otherwise


REPLACEMENT: Final = "\ufffd"
_STEERING: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co"})
"""Unicode's categories of what steers a terminal, turns the direction of writing, begins a line, is not seen
or means something else on every computer, and of halves of pairs."""


def printable(text: str) -> str:
    """Return the text on one line, with a mark in place of all that steers a terminal or that nobody sees.

    A tab stays.  A line feed does not: whoever names a file could forge a line of ours with it.
    """
    return _marked(text, "\t")


def printable_lines(text: str) -> str:
    """Return the text like `printable`, but on the lines that it has: for texts whose lines are ours."""
    return _marked(text, "\t\n")


def is_printable(text: str) -> bool:
    """Whether nothing in the lines of a text steers a terminal or is not seen."""
    return printable_lines(text) == text


def first_line(error: BaseException, most: int) -> str:
    """Return what an error says in its first line, or its kind if it says nothing."""
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
