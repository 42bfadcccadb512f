"""What was lost: packets, bytes sent again, queue pairs that gave up."""

from reports.metrics.metric import Metric
from reports.quantities import Unit
from reports.view import CellView


def dropped_packets(view: CellView, _interval_ns: int) -> float | None:
    """Return the packets that switches dropped, all ports together."""
    queues = view.table("queues")
    return None if queues is None else float(queues["drops"].sum())


def retransmitted_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the fraction of all payload sent that had been sent before: again / (delivered + again)."""
    flows, rows = view.table("flows"), view.deliveries
    if flows is None or rows is None or flows["retransmitted_bytes"].isna().all():
        return None
    again = float(flows["retransmitted_bytes"].sum())
    sent = again + float(rows["delivered_bytes"].sum())
    return again / sent if sent else None


def failed_queue_pairs(view: CellView, _interval_ns: int) -> float | None:
    """Return how many queue pairs of the traffic failed."""
    return float(len(view.failed_flow_ids)) if view.flow_ids else None


def failed_queue_pair_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the fraction of the traffic's queue pairs that failed."""
    return len(view.failed_flow_ids) / len(view.flow_ids) if view.flow_ids else None


METRICS = (
    Metric(
        "drops_packets",
        "Packets dropped",
        Unit.COUNT,
        "Packets that switches dropped, all ports together.",
        ("queues",),
        dropped_packets,
    ),
    Metric(
        "retransmitted_share",
        "Sent again",
        Unit.PERCENT,
        "Fraction of all payload sent that had been sent before.",
        ("flows", "throughput"),
        retransmitted_share,
    ),
    Metric(
        "failed_queue_pairs",
        "QPs failed",
        Unit.COUNT,
        "Queue pairs that exhausted their retries and went to the error state; without recovery the flow is"
        " dead from then on.",
        ("flows",),
        failed_queue_pairs,
    ),
    Metric(
        "failed_queue_pair_share",
        "QPs failed, share",
        Unit.PERCENT,
        "Queue pairs that failed, as a fraction of all that carried traffic.",
        ("flows",),
        failed_queue_pair_share,
    ),
)
