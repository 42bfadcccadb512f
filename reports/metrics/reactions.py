"""Reactions of NICs to single packets, where a run records packets."""

from typing import Final

import pandas as pd

from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import Metric, metric
from rogue.reports.quantities import Unit

PACKETS: Final = ("packets",)
PS_PER_NS: Final = 1_000

METRICS: Final[list[Metric]] = []


@once_per_cell
def _cnps(view: CellView) -> pd.DataFrame:
    """Return the rows of CNPs that leave their NIC."""
    packets = view.run.table(view.entry.id, "packets")
    assert packets is not None, "the metrics need this table"
    return packets[packets["kind"].eq("cnp") & packets["node"].astype(object).eq(packets["src"])]


@metric(METRICS, "cnps_packets", "CNPs", Unit.COUNT, needs=PACKETS)
def cnps_packets(view: CellView, _interval_ns: int) -> float | None:
    """Congestion notification packets that NICs sent."""
    return float(len(_cnps(view)))


@metric(METRICS, "cnp_delay_ns", "Mark to CNP", Unit.TIME, needs=PACKETS)
def cnp_delay_ns(view: CellView, _interval_ns: int) -> float | None:
    """From a flow's first marked packet, as it starts on its last link, to the flow's first CNP, as it leaves
    its NIC; the mean over flows with both.
    """
    packets = view.table("packets")
    assert packets is not None, "the metric needs this table"
    at_last = packets["port"].astype(str).str.partition("->")[2].eq(packets["dst"].astype(str))
    marked = packets[packets["marked"].astype(bool) & at_last]
    firsts = [rows.groupby(rows["flow_id"].astype(str))["t_ps"].min() for rows in (marked, _cnps(view))]
    delays = (firsts[1] - firsts[0]).dropna()
    return float(delays.mean()) / PS_PER_NS if len(delays) else None
