"""Runs of the testbed in Python: `rogue.load(DIRECTORY)`; docs/RESULTS.md has the tables."""

from reports.errors import ReportError
from reports.loaded import LoadedRun, load

__all__ = ["LoadedRun", "ReportError", "load"]
