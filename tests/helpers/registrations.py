"""What a test registers does not stay."""

from collections.abc import Iterator
from contextlib import contextmanager

from rogue.workloads.registration import ADDED


@contextmanager
def registrations_taken_back() -> Iterator[int]:
    """Gives the number of entries before: those of plug-ins that ship may be loaded, and stay."""
    count = len(ADDED)
    try:
        yield count
    finally:
        for each in ADDED[count:]:
            each.remove()
        del ADDED[count:]
