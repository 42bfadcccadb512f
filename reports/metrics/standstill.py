"""What gets nothing through any more: flows that fall silent, ports that wait for each other."""

from rogue.reports.cells.transfers import coded
from rogue.reports.cells.view import CellView
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import Unit


def silent_flows(view: CellView, _interval_ns: int) -> float | None:
    """Return how many flows got nothing through in the last quarter of the window.

    None where flows come and go: then silence may mean that there is nothing to send.
    """
    window, rows = view.window, view.deliveries
    if window is None or rows is None or not view.is_simultaneous:
        return None
    late = rows["t_ns"].to_numpy() > window.end_ns - window.duration_ns // 4
    heard = coded(rows["flow_id"]).rows_of(late & (rows["delivered_bytes"].to_numpy() > 0))
    return float(sum(flow_id not in heard for flow_id in view.flow_ids))


def deadlocked_ports(view: CellView, _interval_ns: int) -> float | None:
    """Return how many ports waited for each other in a loop at the end."""
    return view.entry.number("deadlock_ports")


METRICS = (
    Metric(
        "silent_flows",
        "Flows silent at the end",
        Unit.COUNT,
        "Flows that got nothing through in the last quarter of the time, though they had something to send.",
        ("flows", "throughput"),
        silent_flows,
    ),
    Metric(
        "deadlock_ports",
        "Ports waiting in a loop",
        Unit.COUNT,
        "Ports that waited for each other in a loop when the run ended: a deadlock, unless one of them has"
        " another way out.",
        ("flows",),
        deadlocked_ports,
    ),
)
