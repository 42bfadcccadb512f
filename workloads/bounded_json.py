"""Parse JSON from files that are not trusted, within bounds, and make its text safe to print."""

import json
import math
from typing import Final

from rogue.workloads.printable import printable, printable_lines

VALUES_MAX: Final = 5_000_000
"""In one text: the manifest of 50 000 cells, the most that are planned, has 2.6 million."""


DEPTH_MAX: Final = 100
"""Of lists and objects within each other: a manifest of ours has less than ten."""


INTEGER_MAX: Final = 2**63 - 1
"""No column, and nothing in C, holds a larger one."""


def parse_json(text: bytes) -> object:
    """Read a text without changing its strings; ValueError says why it is none that a run wrote.

    Values are counted before any is made: a text of 60 MB has 20 million empty lists, or 3 GB.
    """
    values = 1 + sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if values > VALUES_MAX:
        raise ValueError(f"it has up to {values} values, more than {VALUES_MAX}")
    try:
        content = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    check_values(content)
    return content


def check_values(content: object) -> None:
    """ValueError if a number is none that a run can have, or values stand too deep in each other."""
    level = [content]
    for _ in range(DEPTH_MAX):
        below: list[object] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            else:
                _check_number(value)
        if not below:
            return
        level = below
    raise _too_deep()


def harmless(value: object) -> object:
    """Return the content with a mark in its texts for what no file can hold, and what steers a terminal."""
    if isinstance(value, str):
        return printable_lines(value)
    if isinstance(value, list):
        return [harmless(item) for item in value]
    if isinstance(value, dict):
        return {printable(str(key)): harmless(item) for key, item in value.items()}
    return value


def _check_number(value: object) -> None:
    if isinstance(value, int) and abs(value) > INTEGER_MAX:
        raise ValueError(f"an integer of {len(str(abs(value)))} digits is larger than any of a run")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is larger than any that a computer holds")


def _too_deep() -> ValueError:
    return ValueError(f"it has more than {DEPTH_MAX} lists and objects within each other")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON's")
