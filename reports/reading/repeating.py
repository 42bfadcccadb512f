"""The command that repeats a cell, as its run says; people copy it into a shell."""

import shlex
from collections.abc import Mapping
from typing import Final

_BEGINNING: Final = ["rogue", "run"]


def repeating_command(facts: Mapping[str, object]) -> str | None:
    """Return the command among a cell's facts; None unless it is one `rogue run`, and nothing besides.

    Who hands you a run can write there whatever he likes.
    """
    told = facts.get("reproduce")
    if not isinstance(told, str):
        return None
    try:
        words = shlex.split(told)
    except ValueError:
        return None
    is_one = told.isprintable() and told == shlex.join(words)
    return told if is_one and words[: len(_BEGINNING)] == _BEGINNING else None
