"""Run experiments and load runs from Python: `rogue.run`, `rogue.load`; see docs/how-to/read-results.md.

Nodes have this package without pandas, so that what is offered here is imported when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rogue.harness.errors import HarnessError
    from rogue.harness.notebook import load, run
    from rogue.reports.errors import ReportError
    from rogue.reports.results.loaded import LoadedRun

__all__ = ["HarnessError", "LoadedRun", "ReportError", "load", "run"]

_PLACES = {
    "HarnessError": "rogue.harness.errors",
    "LoadedRun": "rogue.reports.results.loaded",
    "ReportError": "rogue.reports.errors",
    "load": "rogue.harness.notebook",
    "run": "rogue.harness.notebook",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
