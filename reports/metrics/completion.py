"""How long transfers take, in all and by size class.

A transfer that did not complete counts as infinite, in a percentile and in a mean; its rate is zero.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reports.metrics.metric import Lost, Metric
from reports.metrics.percentiles import nearest_rank
from reports.quantities import Unit
from reports.view import CellView, once_per_cell
from workloads.records import TransferStatus

# The agent cuts larger transfers into segments of this size; smaller ones it leaves whole.
LONG_FROM_BYTES = 65_536
_LOST = Lost("unfinished_share", "not completed")

Values = NDArray[np.float64]


@once_per_cell
def transfers(view: CellView) -> pd.DataFrame | None:
    """Return the rows of `flows` that carry payload and started after the warm-up, where there is one."""
    flows = view.table("flows")
    if flows is None:
        return None
    flows = flows[flows["size_bytes"] > 0]
    warm_up_ns = view.entry.number("warm_up_ns")
    return flows[flows["start_ns"] >= warm_up_ns] if warm_up_ns else flows


def times_ns(rows: pd.DataFrame) -> Values:
    """Return the completion time of each transfer; infinite for one that did not complete."""
    done_ns = rows["fct_ns"].where(rows["status"] == TransferStatus.OK)
    return done_ns.fillna(np.inf).to_numpy(dtype=np.float64)


@once_per_cell
def transfer_times_ns(view: CellView, is_long: bool | None) -> Values | None:
    """Return these times of the transfers of one size class, or of all."""
    rows = transfers(view)
    if rows is None:
        return None
    if is_long is not None:
        rows = rows[(rows["size_bytes"] >= LONG_FROM_BYTES) == is_long]
    return times_ns(rows)


def mean_ns(view: CellView, _interval_ns: int) -> float | None:
    """Return the mean over all transfers; infinite if one did not complete."""
    taken_ns = transfer_times_ns(view, None)
    return None if taken_ns is None or not len(taken_ns) else float(taken_ns.mean())


def slowdown_mean(view: CellView, _interval_ns: int) -> float | None:
    """Return the mean of completion time over that in the empty network; infinite if one did not complete."""
    rows = transfers(view)
    if rows is None:
        return None
    lost = rows["status"] != TransferStatus.OK
    slowdowns = rows["slowdown"].mask(lost, np.inf).dropna()
    return float(slowdowns.mean()) if len(slowdowns) else None


def percentile_ns(*, is_long: bool | None, percent: float) -> Callable[[CellView, int], float | None]:
    """Return a metric: a percentile over the transfers of one size class, or of all."""

    def of_cell(view: CellView, _interval_ns: int) -> float | None:
        taken_ns = transfer_times_ns(view, is_long)
        return None if taken_ns is None else nearest_rank(taken_ns, percent)

    return of_cell


@once_per_cell
def transfer_rates_bps(view: CellView) -> Values | None:
    """Return size over completion time of every transfer; zero for one that did not complete."""
    rows = transfers(view)
    if rows is None:
        return None
    taken_ns = transfer_times_ns(view, None)
    assert taken_ns is not None, "there are rows"
    took_time = taken_ns > 0
    rates = rows["size_bytes"].to_numpy(dtype=np.float64)[took_time] * 8e9 / taken_ns[took_time]
    return rates if len(rates) else None


def transfer_rate_mean_bps(view: CellView, _interval_ns: int) -> float | None:
    """Return the mean of these rates."""
    rates = transfer_rates_bps(view)
    return None if rates is None else float(rates.mean())


def transfer_rate_deviation_share(view: CellView, _interval_ns: int) -> float | None:
    """Return their standard deviation over their mean."""
    rates = transfer_rates_bps(view)
    return None if rates is None or not rates.any() else float(rates.std() / rates.mean())


def unfinished_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the fraction of the transfers that did not complete."""
    rows = transfers(view)
    return None if rows is None or rows.empty else float((rows["status"] != TransferStatus.OK).mean())


METRICS = (
    Metric(
        "fct_mean_ns",
        "Completion, mean",
        Unit.TIME,
        "Mean time from handing a transfer over to its completion; one that did not complete counts as"
        " infinite.",
        ("flows",),
        mean_ns,
        lost=_LOST,
    ),
    Metric(
        "fct_p99_ns",
        "Completion p99",
        Unit.TIME,
        "One in a hundred of all transfers took longer than this; one that did not complete counts as"
        " infinite.",
        ("flows",),
        percentile_ns(is_long=None, percent=99),
        lost=_LOST,
    ),
    Metric(
        "slowdown_mean",
        "Slowdown, mean",
        Unit.RATIO,
        "Mean of a transfer’s completion time over that of the same transfer alone in the empty network; one"
        " that did not complete counts as infinite.",
        ("flows",),
        slowdown_mean,
        lost=_LOST,
    ),
    Metric(
        "long_fct_p50_ns",
        "Long transfers p50",
        Unit.TIME,
        "Median completion time of the transfers of at least 64 KiB; one that did not complete counts as"
        " infinite.",
        ("flows",),
        percentile_ns(is_long=True, percent=50),
        lost=_LOST,
    ),
    Metric(
        "long_fct_p90_ns",
        "Long transfers p90",
        Unit.TIME,
        "One in ten of the transfers of at least 64 KiB took longer than this.",
        ("flows",),
        percentile_ns(is_long=True, percent=90),
        lost=_LOST,
    ),
    Metric(
        "short_fct_p50_ns",
        "Short transfers p50",
        Unit.TIME,
        "Median completion time of the transfers below 64 KiB.",
        ("flows",),
        percentile_ns(is_long=False, percent=50),
        lost=_LOST,
    ),
    Metric(
        "short_fct_p90_ns",
        "Short transfers p90",
        Unit.TIME,
        "One in ten of the transfers below 64 KiB took longer than this.",
        ("flows",),
        percentile_ns(is_long=False, percent=90),
        lost=_LOST,
    ),
    Metric(
        "transfer_rate_mean_bps",
        "Size / completion, mean",
        Unit.RATE,
        "Mean over all transfers of size over completion time; zero for one that did not complete.",
        ("flows",),
        transfer_rate_mean_bps,
        better="higher",
    ),
    Metric(
        "transfer_rate_deviation_share",
        "Size / completion, deviation",
        Unit.PERCENT,
        "Standard deviation of size over completion time, over its mean.",
        ("flows",),
        transfer_rate_deviation_share,
    ),
    Metric(
        "unfinished_share",
        "Not completed",
        Unit.PERCENT,
        "Transfers that failed, lost a message, or were still under way when the run ended.",
        ("flows",),
        unfinished_share,
    ),
)
