"""Parse JSON files and make their texts safe to print."""

import json
import math
from typing import Final

from rogue.workloads.printable import printable, printable_lines

DEPTH_MAX: Final = 100
"""Levels of lists and objects; our manifests have fewer than ten."""
INTEGER_MAX: Final = 2**63 - 1
"""Largest integer of a table's column."""


def parse_json(text: bytes) -> object:
    """Return the value of a JSON text; ValueError if it is no JSON, or has a number that no run can have."""
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
