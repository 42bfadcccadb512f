"""How long transfers take, in all and by size class.

A percentile counts a transfer that did not complete as longer than any that did; where the percentile falls
on such a transfer there is no number. A mean is over the completed transfers.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reports.metrics.metric import Metric
from reports.metrics.percentiles import nearest_rank
from reports.quantities import Unit
from reports.view import CellView
from workloads.records import TransferStatus

# The agent cuts larger transfers into segments of this size; smaller ones it leaves whole.
LONG_FROM_BYTES = 65_536


def transfers(view: CellView) -> pd.DataFrame | None:
    """Return the rows of `flows` that carry payload and started after the warm-up, where there is one."""
    flows = view.table("flows")
    if flows is None:
        return None
    flows = flows[flows["size_bytes"] > 0]
    warm_up_ns = view.entry.number("warm_up_ns")
    return flows[flows["start_ns"] >= warm_up_ns] if warm_up_ns else flows


def mean_ns(view: CellView, _interval_ns: int) -> float | None:
    """Return the mean over the transfers that completed."""
    rows = transfers(view)
    if rows is None:
        return None
    done_ns = rows.loc[rows["status"] == TransferStatus.OK, "fct_ns"].dropna()
    return float(done_ns.mean()) if len(done_ns) else None


def slowdown_mean(view: CellView, _interval_ns: int) -> float | None:
    """Return the mean of completion time over that in the empty network, of the transfers that completed."""
    rows = transfers(view)
    if rows is None:
        return None
    slowdowns = rows.loc[rows["status"] == TransferStatus.OK, "slowdown"].dropna()
    return float(slowdowns.mean()) if len(slowdowns) else None


def percentile_ns(*, is_long: bool | None, percent: float) -> Callable[[CellView, int], float | None]:
    """Return a metric: a percentile over the transfers of one size class, or of all."""

    def of_cell(view: CellView, _interval_ns: int) -> float | None:
        rows = transfers(view)
        if rows is None:
            return None
        if is_long is not None:
            rows = rows[(rows["size_bytes"] >= LONG_FROM_BYTES) == is_long]
        done_ns = rows["fct_ns"].where(rows["status"] == TransferStatus.OK)
        value = nearest_rank(done_ns.fillna(np.inf).to_numpy(dtype=np.float64), percent)
        return value if value is not None and np.isfinite(value) else None

    return of_cell


def transfer_rates_bps(view: CellView) -> NDArray[np.float64] | None:
    """Return size over completion time of every transfer that completed."""
    rows = transfers(view)
    if rows is None:
        return None
    done = rows[(rows["status"] == TransferStatus.OK) & (rows["fct_ns"] > 0)]
    rates = (done["size_bytes"] * 8e9 / done["fct_ns"]).to_numpy(dtype=np.float64)
    return rates if len(rates) else None


def transfer_rate_mean_bps(view: CellView, _interval_ns: int) -> float | None:
    """Return the mean of these rates."""
    rates = transfer_rates_bps(view)
    return None if rates is None else float(rates.mean())


def transfer_rate_deviation_share(view: CellView, _interval_ns: int) -> float | None:
    """Return their standard deviation over their mean."""
    rates = transfer_rates_bps(view)
    return None if rates is None else float(rates.std() / rates.mean())


def unfinished_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the fraction of the transfers that did not complete."""
    rows = transfers(view)
    return None if rows is None or rows.empty else float((rows["status"] != TransferStatus.OK).mean())


METRICS = (
    Metric(
        "fct_mean_ns",
        "Completion, mean",
        Unit.TIME,
        "Mean time from handing a transfer over to its completion, over the transfers that completed.",
        ("flows",),
        mean_ns,
    ),
    Metric(
        "fct_p99_ns",
        "Completion p99",
        Unit.TIME,
        "One in a hundred of all transfers took longer than this; one that did not complete counts as longer"
        " than any that did.",
        ("flows",),
        percentile_ns(is_long=None, percent=99),
    ),
    Metric(
        "slowdown_mean",
        "Slowdown, mean",
        Unit.RATIO,
        "Mean of a transfer’s completion time over that of the same transfer alone in the empty network.",
        ("flows",),
        slowdown_mean,
    ),
    Metric(
        "long_fct_p50_ns",
        "Long transfers p50",
        Unit.TIME,
        "Median completion time of the transfers of at least 64 KiB; one that did not complete counts as"
        " longer than any that did.",
        ("flows",),
        percentile_ns(is_long=True, percent=50),
    ),
    Metric(
        "long_fct_p90_ns",
        "Long transfers p90",
        Unit.TIME,
        "One in ten of the transfers of at least 64 KiB took longer than this.",
        ("flows",),
        percentile_ns(is_long=True, percent=90),
    ),
    Metric(
        "short_fct_p50_ns",
        "Short transfers p50",
        Unit.TIME,
        "Median completion time of the transfers below 64 KiB.",
        ("flows",),
        percentile_ns(is_long=False, percent=50),
    ),
    Metric(
        "short_fct_p90_ns",
        "Short transfers p90",
        Unit.TIME,
        "One in ten of the transfers below 64 KiB took longer than this.",
        ("flows",),
        percentile_ns(is_long=False, percent=90),
    ),
    Metric(
        "transfer_rate_mean_bps",
        "Size / completion, mean",
        Unit.RATE,
        "Mean over the transfers that completed of size over completion time.",
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
