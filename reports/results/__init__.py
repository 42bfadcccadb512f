"""A run's settings and the values measured in them, in frames and in words."""

from rogue.reports.results.results import (
    CellValues,
    Counted,
    Results,
    Setting,
    factor_name,
    in_silence,
    settings_by_point,
    settings_of,
)

__all__ = [
    "CellValues",
    "Counted",
    "Results",
    "Setting",
    "factor_name",
    "in_silence",
    "settings_by_point",
    "settings_of",
]
