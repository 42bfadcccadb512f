"""From result tables to one HTML report."""

from rogue.reports.build import build
from rogue.reports.errors import ReportError

__all__ = ["ReportError", "build"]
