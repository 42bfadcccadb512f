"""Warnings: what a run cannot tell, with a remedy. A warning is one function and one line here."""

from typing import Final

from rogue.reports.results import Results
from rogue.reports.warnings.load import idle_port, never_congested, too_short, unpublished_parameters
from rogue.reports.warnings.seeds import identical_tables, single_seed, too_few_seeds
from rogue.reports.warnings.tails import few_transfers
from rogue.reports.warnings.warning import Check, RunWarning

WARNINGS: Final[tuple[Check, ...]] = (
    unpublished_parameters,
    idle_port,
    too_short,
    never_congested,
    few_transfers,
    identical_tables,
    too_few_seeds,
    single_seed,
)
"""The most important first."""


def warnings_of(results: Results) -> list[RunWarning]:
    """Return what the finished cells of a run cannot tell, the most important first."""
    if not results.measured_settings:
        return []
    return [found for check in WARNINGS if (found := check(results)) is not None]
