"""Packets that are lost or sent again, pauses of ports, silent flows, and ports that wait in a loop."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

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


def paused_sum_ns(view: CellView, _interval_ns: int) -> float | None:
    """Return the time that ports were paused, all ports and priorities added up."""
    pauses = _pauses(view)
    return None if pauses is None else float(pauses["duration_ns"].sum())


def paused_union_ns(view: CellView, _interval_ns: int) -> float | None:
    """Return the time during which at least one port was paused."""
    pauses = _pauses(view)
    if pauses is None:
        return None
    return float(union_ns(pauses["start_ns"].tolist(), pauses["duration_ns"].tolist()))


def paused_ports(view: CellView, _interval_ns: int) -> float | None:
    """Return how many ports were paused at least once."""
    pauses = _pauses(view)
    return None if pauses is None else float(pauses["port"].nunique())


def pauses(view: CellView, _interval_ns: int) -> float | None:
    """Return how often a port was paused."""
    found = _pauses(view)
    return None if found is None else float(len(found))


def _pauses(view: CellView) -> pd.DataFrame | None:
    """The table even if it is empty: no pause at all is a result."""
    return view.run.table(view.entry.id, "pauses")


def union_ns(starts_ns: Sequence[int], durations_ns: Sequence[int]) -> int:
    """Return for how long at least one of some intervals lasted."""
    total_ns = 0
    covered_until_ns: int | None = None
    for start_ns, duration_ns in sorted(zip(starts_ns, durations_ns, strict=True)):
        end_ns = start_ns + duration_ns
        if covered_until_ns is None or start_ns > covered_until_ns:
            total_ns += duration_ns
        else:
            total_ns += max(0, end_ns - covered_until_ns)
        covered_until_ns = end_ns if covered_until_ns is None else max(covered_until_ns, end_ns)
    return total_ns


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
    Metric(
        "paused_sum_ns",
        "Paused, sum",
        Unit.TIME,
        "Time that ports were paused by priority flow control, all ports and priorities added up.",
        ("flows",),
        paused_sum_ns,
    ),
    Metric(
        "paused_union_ns",
        "Paused, any port",
        Unit.TIME,
        "Time during which at least one port was paused.",
        ("flows",),
        paused_union_ns,
    ),
    Metric(
        "paused_ports",
        "Ports paused",
        Unit.COUNT,
        "Ports that were paused at least once.",
        ("flows",),
        paused_ports,
    ),
    Metric(
        "pauses",
        "Pauses",
        Unit.COUNT,
        "How often priority flow control paused a port, all ports and priorities added up.",
        ("flows",),
        pauses,
    ),
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
