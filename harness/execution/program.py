"""When a program of messages and computing is done: no table says so where it computes last."""

from collections.abc import Mapping

from rogue.harness.cell.carrier import Group
from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.base import Columns, Fact
from rogue.workloads.records import TransferStatus
from rogue.workloads.traffic.goal import Goal

Rows = dict[tuple[str, int], dict[str, int]]
"""Moments of each transfer that arrived, by the ends of its flow and its number there, from 0."""


def program_facts(cell: Cell, tables: Mapping[str, Columns]) -> dict[str, Fact]:
    """The time from the first start to the last arrival or computing; None if something never arrived.

    Nothing where not exactly one group of the traffic is such a program.
    """
    programs = [
        (group, workload) for group in cell.groups if isinstance(workload := group.asked.workload, Goal)
    ]
    if len(programs) != 1 or "flows" not in tables:
        return {}
    ((group, workload),) = programs
    rows = _rows_of(group, tables["flows"])
    if not rows or len(rows) < sum(len(flow.arrivals) for flow in group.flows):
        return {"program_ns": None}
    least_ns, after = workload.computed(cell.experiment.placement, cell.seed)
    arrived_ns = [row["arrival"] for row in rows.values()]
    first_ns = min(row["start"] for row in rows.values())
    computed_ns = [rows[each.flow, each.number][each.moment] + each.pause_ns for each in after]
    return {"program_ns": max(least_ns, *arrived_ns, *computed_ns) - first_ns}


def _rows_of(group: Group, flows: Columns) -> Rows:
    """Where nothing waits for arrivals none is recorded, and the acknowledgement stands for it."""
    ends_of = {flow.name_in(group.name): flow.ends for flow in group.flows}
    names = ("flow_id", "transfer_id", "status", "start_ns", "arrived_ns", "end_ns")
    rows: Rows = {}
    for flow_id, number, status, *moments_ns in zip(*(flows[name] for name in names), strict=True):
        start_ns, arrived_ns, end_ns = moments_ns
        if flow_id in ends_of and status == TransferStatus.OK:
            arrival_ns = end_ns if arrived_ns is None else arrived_ns
            moments = {"start": int(start_ns), "arrival": int(arrival_ns), "end": int(end_ns)}
            rows[ends_of[flow_id], int(number) - 1] = moments
    return rows
