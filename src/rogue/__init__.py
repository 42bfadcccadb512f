"""Runs of the testbed in Python: `rogue.load(DIRECTORY)`; docs/RESULTS.md has the tables.

Nodes have this package without pandas, so that what is offered here is imported when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rogue.reports.errors import ReportError
    from rogue.reports.results.loaded import LoadedRun, load

__all__ = ["LoadedRun", "ReportError", "load"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(
        import_module("rogue.reports.errors" if name == "ReportError" else "rogue.reports.results.loaded"),
        name,
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
