"""Warning about percentiles of few transfers."""

from typing import Final

from rogue.reports.metrics.completion import counted
from rogue.reports.results import Results
from rogue.reports.results.headlines import OF_TRANSFERS, headlines_of
from rogue.reports.warnings.warning import RunWarning

TAILS: Final = {"slowdown_p99", "fct_p99_ns"}
TRANSFERS_MIN: Final = 100
"""The 99th percentile by nearest rank of fewer values is the largest one."""


def thin_tails(results: Results) -> list[int]:
    """Return the numbers of transfers of the cells, if transfers arrive at random and a cell has too few."""
    if headlines_of(results.run.manifest) is not OF_TRANSFERS:
        return []
    views = (view for setting in results.measured_settings for view in results.views_of(setting))
    numbers = [int(mask.sum()) for view in views if (mask := counted(view)) is not None]
    return sorted(numbers) if numbers and min(numbers) < TRANSFERS_MIN else []


def few_transfers(results: Results) -> RunWarning | None:
    """Warn of a 99th percentile that is the time of a single transfer."""
    numbers = thin_tails(results)
    if not numbers:
        return None
    least, most = numbers[0], numbers[-1]
    span = f"{least}" if least == most else f"{least} to {most}"
    return RunWarning(
        f"Runs have {span} transfers, so a p99 is the time of the slowest one.",
        f"Read the mean or the median, or let at least {TRANSFERS_MIN} transfers arrive in each run.",
    )
