"""From result tables to one HTML report."""

from reports.build import build
from reports.errors import ReportError

__all__ = ["ReportError", "build"]
