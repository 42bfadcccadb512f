"""Completion times of transfers, of all and by size class.

A slowdown is the completion time over that of the same transfer alone in the empty network.
A transfer that did not complete is infinite in a percentile. A mean is over the completed transfers, and
infinite if more than MISSING_MAX of all are missing. The rate of an unfinished transfer is zero. Traffic
that repeats for a time has a transfer under way at its end, which does not count unless its flow completed
none.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rogue.reports.cells.transfers import Mask, Transfers, coded
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import Lost, Metric, metric
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit

# The agent cuts larger transfers into segments of this size.
LONG_FROM_BYTES = 65_536
ONLY_GROUP = "main."
"""The prefix of a trace's groups where an experiment has one kind of traffic."""
MISSING_MAX = 0.01
"""With a larger share of unfinished transfers a mean over the others would hide them."""

Values = NDArray[np.float64]


@once_per_cell
def counted(view: CellView) -> Mask | None:
    """Return a mask of the transfers that started after the warm-up and were not cut short."""
    transfers = view.transfers
    if transfers is None:
        return None
    wanted = transfers.start_ns >= (view.entry.number("warm_up_ns") or -np.inf)
    return wanted & ~_cut_short(transfers) if view.entry.facts.get("repeats") is True else wanted


def _cut_short(transfers: Transfers) -> Mask:
    """Return a mask of the transfers that the end of the run cut short, in flows that completed others."""
    completed = np.bincount(transfers.flow, transfers.is_ok, minlength=len(transfers.flow_ids)) > 0
    return transfers.is_unfinished & completed[transfers.flow]


@once_per_cell
def transfer_times_ns(view: CellView, is_long: bool | None) -> Values | None:
    """Return the completion times of one size class or of all; infinite if a transfer did not complete."""
    transfers, wanted = view.transfers, counted(view)
    if transfers is None or wanted is None:
        return None
    if is_long is not None:
        wanted = wanted & ((transfers.size_bytes >= LONG_FROM_BYTES) == is_long)
    has_ended = transfers.is_ok & ~np.isnan(transfers.fct_ns)
    return np.where(has_ended, transfers.fct_ns, np.inf)[wanted]


@once_per_cell
def slowdowns(view: CellView) -> Values | None:
    """Return the slowdown of each; infinite if it did not complete, NaN if its ideal time is unknown."""
    transfers, wanted = view.transfers, counted(view)
    if transfers is None or wanted is None:
        return None
    return np.where(transfers.is_ok, transfers.slowdown, np.inf)[wanted]


@once_per_cell
def times_by_group(view: CellView) -> Mapping[str, tuple[Values, Values]]:
    """Return slowdown and completion time (ns) of each counted transfer, by the group that a trace named."""
    flows, transfers, wanted = view.table("flows"), view.transfers, counted(view)
    if flows is None or transfers is None or wanted is None:
        return {}
    known = [
        np.where(transfers.is_ok & ~np.isnan(values), values, np.inf)
        for values in (transfers.slowdown, transfers.fct_ns)
    ]
    groups = coded(flows["group"])
    codes = groups.codes[flows["size_bytes"].to_numpy() > 0]
    own = {name: wanted & (codes == code) for code, name in enumerate(groups.names) if "." in name}
    return {
        name.removeprefix(ONLY_GROUP): (known[0][mask], known[1][mask])
        for name, mask in own.items()
        if mask.any()
    }


@once_per_cell
def sizes_and_slowdowns(view: CellView) -> tuple[Values, Values]:
    """Return size and slowdown of each counted transfer, infinite where one did not complete."""
    transfers, wanted = view.transfers, counted(view)
    if transfers is None or wanted is None:
        return np.empty(0), np.empty(0)
    known = transfers.is_ok & ~np.isnan(transfers.slowdown)
    ratios = np.where(known, transfers.slowdown, np.inf)
    return transfers.size_bytes[wanted].astype(np.float64), ratios[wanted]


@once_per_cell
def transfer_rates_bps(view: CellView) -> Values | None:
    """Return size over completion time of every transfer; zero for one that did not complete."""
    transfers, taken_ns = view.transfers, transfer_times_ns(view, None)
    if transfers is None or taken_ns is None:
        return None
    took_time = taken_ns > 0
    size_bytes = transfers.size_bytes[counted(view)].astype(np.float64)
    rates = size_bytes[took_time] * 8e9 / taken_ns[took_time]
    return rates if len(rates) else None


def mean_of_completed(values: Values) -> float | None:
    """Return the mean of the finite values; infinite if over MISSING_MAX are not, None without any."""
    values = values[~np.isnan(values)]
    finite = values[np.isfinite(values)]
    if len(values) - len(finite) > MISSING_MAX * len(values):
        return np.inf
    return float(finite.mean()) if len(finite) else None


def least_percentile(values: Values | None, percent: float) -> float | None:
    """Return the least value that a percentile may have once all complete; None if that is unknown.

    An unfinished transfer may have started just before the end, so its time may still become
    shorter than all others: it counts as 0.
    """
    if values is None:
        return None
    known = values[~np.isnan(values)]
    return nearest_rank(np.where(np.isinf(known), 0, known), percent) or None


def unfinished_of(values: Values | None) -> tuple[int, int]:
    """Return the number of infinite values, and of all that are known."""
    known = np.empty(0) if values is None else values[~np.isnan(values)]
    return int(np.isinf(known).sum()), len(known)


COMPLETED: Final = Lost(
    "unfinished_share", "unfinished", lambda view: unfinished_of(transfer_times_ns(view, None))
)
METRICS: Final[list[Metric]] = []


@metric(METRICS, "fct_mean_ns", "Completion, mean", Unit.TIME, lost=COMPLETED)
def mean_ns(view: CellView, _interval_ns: int) -> float | None:
    """Mean time from handing a transfer over to its completion, over the completed transfers; infinite if
    more than 1 % did not complete.
    """
    taken_ns = transfer_times_ns(view, None)
    return None if taken_ns is None else mean_of_completed(taken_ns)


def _percentile(name: str, title: str, percent: float, meaning: str, *, is_long: bool | None = None) -> None:
    """Add a percentile over the transfers of one size class, or of all."""

    def measure(view: CellView, _interval_ns: int) -> float | None:
        taken_ns = transfer_times_ns(view, is_long)
        return None if taken_ns is None else nearest_rank(taken_ns, percent)

    def bound(view: CellView, _interval_ns: int) -> float | None:
        return least_percentile(transfer_times_ns(view, is_long), percent)

    lost = Lost(
        "unfinished_share", "unfinished", lambda view: unfinished_of(transfer_times_ns(view, is_long))
    )
    METRICS.append(Metric(name, title, Unit.TIME, meaning, ("flows",), measure, lost=lost, bound=bound))


_percentile(
    "fct_max_ns", "Completion, longest", 100,
    "How long the slowest of all transfers took, which papers call tail completion time; one that did not"
    " complete counts as infinite.",
)  # fmt: skip


@metric(METRICS, "slowdown_mean", "Slowdown, mean", Unit.RATIO, lost=COMPLETED)
def slowdown_mean(view: CellView, _interval_ns: int) -> float | None:
    """Mean of a transfer’s completion time over that of the same transfer alone in the empty network, over
    the completed transfers; infinite if more than 1 % did not complete.
    """
    ratios = slowdowns(view)
    return None if ratios is None else mean_of_completed(ratios)


_percentile(
    "long_fct_p50_ns", "Long transfers p50", 50,
    "Median completion time of the transfers of at least 64 KiB; one that did not complete counts as"
    " infinite.", is_long=True,
)  # fmt: skip
_percentile(
    "long_fct_p90_ns", "Long transfers p90", 90,
    "One in ten of the transfers of at least 64 KiB took longer than this.", is_long=True,
)  # fmt: skip
_percentile(
    "short_fct_p50_ns", "Short transfers p50", 50,
    "Median completion time of the transfers below 64 KiB.", is_long=False,
)  # fmt: skip
_percentile(
    "short_fct_p90_ns", "Short transfers p90", 90,
    "One in ten of the transfers below 64 KiB took longer than this.", is_long=False,
)  # fmt: skip


@metric(METRICS, "transfer_rate_mean_bps", "Size / completion, mean", Unit.RATE, better="higher")
def transfer_rate_mean_bps(view: CellView, _interval_ns: int) -> float | None:
    """Mean over all transfers of size over completion time; zero for one that did not complete."""
    rates = transfer_rates_bps(view)
    return None if rates is None else float(rates.mean())


@metric(METRICS, "transfer_rate_deviation_share", "Size / completion, deviation", Unit.PERCENT)
def transfer_rate_deviation_share(view: CellView, _interval_ns: int) -> float | None:
    """Standard deviation of size over completion time, over its mean."""
    rates = transfer_rates_bps(view)
    return None if rates is None or not rates.any() else float(rates.std() / rates.mean())


@metric(METRICS, "unfinished_share", "Unfinished", Unit.PERCENT)
def unfinished_share(view: CellView, _interval_ns: int) -> float | None:
    """Transfers that failed, lost a message, or were still under way when the run ended; where traffic
    repeats for a time, the one that its end cuts short does not count.
    """
    transfers, wanted = view.transfers, counted(view)
    if transfers is None or wanted is None or not wanted.any():
        return None
    return float((~transfers.is_ok[wanted]).mean())
