"""Packets that are lost or sent again, pauses of ports, silent flows, and ports that wait in a loop.

Pauses of all ports and priorities are added up: sum = duration_1 + ... + duration_n. The union of pauses
counts each instant once.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from rogue.reports.cells.bottleneck import packets_of_flows
from rogue.reports.cells.transfers import coded
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.metric import SAMPLED, Metric, metric
from rogue.reports.quantities import Unit

# The counters of switches whose queues are not sampled, on nodes and on the simulator.
DROPS_COUNTERS = ("dropped_packets", "drops")


def _pauses(view: CellView) -> pd.DataFrame | None:
    """Return the table even if it is empty: no pause is a result."""
    return view.run.table(view.entry.id, "pauses")


def union_ns(starts_ns: Sequence[int], durations_ns: Sequence[int]) -> int:
    """Return the length of the union of some intervals."""
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


METRICS: Final[list[Metric]] = []


@metric(METRICS, "drops_packets", "Packets dropped", Unit.COUNT)
@once_per_cell
def dropped_packets(view: CellView, _interval_ns: int) -> float | None:
    """Packets that switches dropped, all ports together."""
    queues = view.table("queues")
    if queues is not None:
        return float(queues["drops"].sum())
    counters = view.table("counters")
    if counters is None:
        return None
    drops = counters[counters["name"].isin(DROPS_COUNTERS)]
    return float((drops["after"] - drops["before"]).sum()) if len(drops) else None


@metric(METRICS, "dropped_share", "Packets dropped, share", Unit.PERCENT)
def dropped_share(view: CellView, interval_ns: int) -> float | None:
    """Packets that switches dropped, as a fraction of the data packets that hosts sent, again or not."""
    flows, drops, packets = view.table("flows"), dropped_packets(view, interval_ns), packets_of_flows(view)
    if flows is None or drops is None or not packets or flows["retransmitted_bytes"].isna().all():
        return None
    default_payload_bytes = next(iter(packets.values())).payload_bytes  # for flows of size 0: one packet each
    ids = coded(flows["flow_id"])
    of_names = [
        packets[name].payload_bytes if name in packets else default_payload_bytes for name in ids.names
    ]
    payload_bytes = np.array(of_names, dtype=np.float64)[ids.codes]
    sent = np.ceil(flows["size_bytes"].to_numpy().clip(min=1) / payload_bytes).sum()
    again = np.nansum(flows["retransmitted_bytes"].to_numpy(dtype=np.float64) / payload_bytes)
    return drops / float(sent + again)


@metric(METRICS, "retransmitted_share", "Sent again", Unit.PERCENT, needs=SAMPLED)
def retransmitted_share(view: CellView, _interval_ns: int) -> float | None:
    """Fraction of all payload sent that had been sent before."""
    flows, rows = view.table("flows"), view.deliveries
    if flows is None or rows is None or flows["retransmitted_bytes"].isna().all():
        return None
    again = float(flows["retransmitted_bytes"].sum())
    sent = again + float(rows["delivered_bytes"].sum())
    return again / sent if sent else None


@metric(METRICS, "delivered_share", "Arrived", Unit.PERCENT, needs=SAMPLED, better="higher")
def delivered_share(view: CellView, _interval_ns: int) -> float | None:
    """Payload of whole messages that arrived, as a fraction of the payload of all transfers that ended. An
    unreliable connection ends a transfer when its last packet is sent, whether it arrives or not.
    """
    # Flows with a transfer under way are left out: how much of it was sent is unknown.
    transfers, per_flow_bytes = view.transfers, view.all_delivered_bytes_of_flows
    if transfers is None or per_flow_bytes is None:
        return None
    is_ended = np.ones(len(transfers.flow_ids), dtype=np.bool_)
    is_ended[transfers.flow[transfers.is_unfinished]] = False
    asked_bytes = float(transfers.size_bytes[is_ended[transfers.flow]].sum())
    delivered_bytes = float(per_flow_bytes[is_ended].sum())
    return delivered_bytes / asked_bytes if asked_bytes else None


@metric(METRICS, "failed_queue_pairs", "QPs failed", Unit.COUNT)
def failed_queue_pairs(view: CellView, _interval_ns: int) -> float | None:
    """Flows with a queue pair that exhausted its retries and went to the error state, even if the agent
    recovered; without recovery the flow is dead from then on.
    """
    return float(len(view.failed_flow_ids)) if view.flow_ids else None


@metric(METRICS, "failed_queue_pair_share", "QPs failed, share", Unit.PERCENT)
def failed_queue_pair_share(view: CellView, _interval_ns: int) -> float | None:
    """Queue pairs that failed, as a fraction of all that carried traffic."""
    return len(view.failed_flow_ids) / len(view.flow_ids) if view.flow_ids else None


@metric(METRICS, "paused_sum_ns", "Paused, sum", Unit.TIME)
def paused_sum_ns(view: CellView, _interval_ns: int) -> float | None:
    """Time that ports were paused by priority flow control, all ports and priorities added up."""
    pauses = _pauses(view)
    return None if pauses is None else float(pauses["duration_ns"].sum())


@metric(METRICS, "paused_union_ns", "Paused, any port", Unit.TIME)
def paused_union_ns(view: CellView, _interval_ns: int) -> float | None:
    """Time during which at least one port was paused."""
    pauses = _pauses(view)
    if pauses is None:
        return None
    return float(union_ns(pauses["start_ns"].tolist(), pauses["duration_ns"].tolist()))


@metric(METRICS, "paused_ports", "Ports paused", Unit.COUNT)
def paused_ports(view: CellView, _interval_ns: int) -> float | None:
    """Ports that were paused at least once."""
    pauses = _pauses(view)
    return None if pauses is None else float(pauses["port"].nunique())


@metric(METRICS, "pauses", "Pauses", Unit.COUNT)
def pauses(view: CellView, _interval_ns: int) -> float | None:
    """How often priority flow control paused a port, all ports and priorities added up."""
    found = _pauses(view)
    return None if found is None else float(len(found))


@metric(METRICS, "silent_flows", "Flows silent at the end", Unit.COUNT, needs=SAMPLED)
def silent_flows(view: CellView, _interval_ns: int) -> float | None:
    """Flows that got nothing through in the last quarter of the time, though they had something to send."""
    window, rows = view.window, view.deliveries
    if window is None or rows is None or not view.is_simultaneous:  # or silence may mean nothing to send
        return None
    late = rows["t_ns"].to_numpy() > window.end_ns - window.duration_ns // 4
    heard = coded(rows["flow_id"]).rows_of(late & (rows["delivered_bytes"].to_numpy() > 0))
    return float(sum(flow_id not in heard for flow_id in view.flow_ids))


@metric(METRICS, "deadlock_ports", "Ports waiting in a loop", Unit.COUNT)
def deadlocked_ports(view: CellView, _interval_ns: int) -> float | None:
    """Ports that waited for each other in a loop when the run ended: a deadlock, unless one of them has
    another way out.
    """
    return view.entry.number("deadlock_ports")
