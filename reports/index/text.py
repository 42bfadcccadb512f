"""Words that come from files, made fit to be shown."""

import unicodedata
from typing import Final

LENGTH_MAX: Final = 200
REPLACEMENT: Final = "\ufffd"


def shown(value: object) -> str:
    """Return a text on one line without anything that steers a terminal or turns the direction of writing."""
    letters = [REPLACEMENT if unicodedata.category(letter)[0] == "C" else letter for letter in str(value)]
    text = " ".join("".join(letters).split())
    return text if len(text) <= LENGTH_MAX else text[: LENGTH_MAX - 1] + "…"
