"""What gets nothing through any more: flows that fall silent, ports that wait for each other."""

from reports.metrics.metric import Metric
from reports.quantities import Unit
from reports.view import CellView


def silent_flows(view: CellView, _interval_ns: int) -> float | None:
    """Return how many flows got nothing through in the last quarter of the window.

    None where flows come and go: then silence may mean that there is nothing to send.
    """
    window, rows = view.window, view.deliveries
    if window is None or rows is None or not view.is_simultaneous:
        return None
    late = rows[rows["t_ns"] > window.end_ns - window.duration_ns // 4]
    heard = set(late.loc[late["delivered_bytes"] > 0, "flow_id"].astype(str))
    return float(sum(flow_id not in heard for flow_id in view.flow_ids))


def deadlocked_ports(view: CellView, _interval_ns: int) -> float | None:
    """Return how many ports waited for each other in a circle at the end."""
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
        "Ports waiting in a circle",
        Unit.COUNT,
        "Ports that waited for each other in a circle when the run ended: a deadlock, unless one of them has"
        " another way out.",
        ("flows",),
        deadlocked_ports,
    ),
)
