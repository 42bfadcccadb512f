"""How often Python looks for garbage while a report is built."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

OBJECTS_BETWEEN: Final = 200_000
"""New objects between two looks, 700 or 2 000 by default: that costs a fifth of a report's time."""


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Let the garbage collector run seldom: modules, tables and figures are made once and stay to the end."""
    usual = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
