"""What was lost: packets, bytes sent again, queue pairs that gave up."""

import numpy as np

from rogue.reports.cells.bottleneck import packets_of_flows
from rogue.reports.cells.transfers import coded
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import Unit

# The counters of switches whose queues are not sampled, on nodes and on the simulator.
DROPS_COUNTERS = ("dropped_packets", "drops")


@once_per_cell
def dropped_packets(view: CellView, _interval_ns: int) -> float | None:
    """Return the packets that switches dropped, all ports together; as sampled, or as they were counted."""
    queues = view.table("queues")
    if queues is not None:
        return float(queues["drops"].sum())
    counters = view.table("counters")
    if counters is None:
        return None
    drops = counters[counters["name"].isin(DROPS_COUNTERS)]
    return float((drops["after"] - drops["before"]).sum()) if len(drops) else None


def dropped_share(view: CellView, interval_ns: int) -> float | None:
    """Return the packets that switches dropped as a fraction of the data packets that hosts sent.

    Sent are those of all transfers, whether or not they ended, and what was sent again.
    """
    flows, drops, packets = view.table("flows"), dropped_packets(view, interval_ns), packets_of_flows(view)
    if flows is None or drops is None or not packets or flows["retransmitted_bytes"].isna().all():
        return None
    network = next(iter(packets.values())).payload_bytes  # of flows that carry nothing: one packet each
    ids = coded(flows["flow_id"])
    of_names = [packets[name].payload_bytes if name in packets else network for name in ids.names]
    payload_bytes = np.array(of_names, dtype=np.float64)[ids.codes]
    sent = np.ceil(flows["size_bytes"].to_numpy().clip(min=1) / payload_bytes).sum()
    again = np.nansum(flows["retransmitted_bytes"].to_numpy(dtype=np.float64) / payload_bytes)
    return drops / float(sent + again)


def retransmitted_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the fraction of all payload sent that had been sent before: again / (delivered + again)."""
    flows, rows = view.table("flows"), view.deliveries
    if flows is None or rows is None or flows["retransmitted_bytes"].isna().all():
        return None
    again = float(flows["retransmitted_bytes"].sum())
    sent = again + float(rows["delivered_bytes"].sum())
    return again / sent if sent else None


def delivered_share(view: CellView, _interval_ns: int) -> float | None:
    """Return the payload that arrived as a fraction of the payload of all transfers that ended.

    Flows with a transfer still under way are left out, for nobody knows how much of it was sent.
    """
    transfers, per_flow_bytes = view.transfers, view.all_delivered_bytes_of_flows
    if transfers is None or per_flow_bytes is None:
        return None
    is_ended = np.ones(len(transfers.flow_ids), dtype=np.bool_)
    is_ended[transfers.flow[transfers.is_unfinished]] = False
    asked_bytes = float(transfers.size_bytes[is_ended[transfers.flow]].sum())
    delivered_bytes = float(per_flow_bytes[is_ended].sum())
    return delivered_bytes / asked_bytes if asked_bytes else None


def failed_queue_pairs(view: CellView, _interval_ns: int) -> float | None:
    """Return of how many flows of the traffic a queue pair failed."""
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
        ("flows",),
        dropped_packets,
    ),
    Metric(
        "dropped_share",
        "Packets dropped, share",
        Unit.PERCENT,
        "Packets that switches dropped, as a fraction of the data packets that hosts sent, again or not.",
        ("flows",),
        dropped_share,
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
        "delivered_share",
        "Arrived",
        Unit.PERCENT,
        "Payload of whole messages that arrived, as a fraction of the payload of all transfers that ended. An"
        " unreliable connection ends a transfer when its last packet is sent, whether it arrives or not.",
        ("flows", "throughput"),
        delivered_share,
        better="higher",
    ),
    Metric(
        "failed_queue_pairs",
        "QPs failed",
        Unit.COUNT,
        "Flows of which a queue pair exhausted its retries and went to the error state, whether or not the"
        " agent recovered; without recovery the flow is dead from then on.",
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
