"""Transfers that wait for others: which moments the ends of flows tell each other, and who waits for them."""

from collections.abc import Iterator, Mapping, Sequence

from rogue.agent.node.messages import WAITS_MAX, After
from rogue.agent.node.supervisor import ROLES_MAX
from rogue.harness.cell.carrier import Group
from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.ends.roles import EndName, NodeFlow
from rogue.workloads.traffic import Flow, Moment
from rogue.workloads.traffic.waiting import waits

KNOWN_BY: Mapping[Moment, EndName] = {"start": "requester", "end": "requester", "arrival": "responder"}
"""Which end of a flow knows of a moment; its bytes are pushed, so that the requester is at their source."""


def after_requests(flow: NodeFlow, role: str, limit_ms: int) -> Iterator[After]:
    """Whom the transfers of a requester wait for, by who knows of it."""
    causes: dict[tuple[str, Moment], list[list[int]]] = {}
    for number, arrival in enumerate(flow.flow.arrivals):
        for each in arrival.after:
            known_by = f"{flow.names[each.flow]}-{KNOWN_BY[each.moment]}"
            causes.setdefault((known_by, each.moment), []).append([number, each.number, each.pause_ns])
    for (known_by, moment), rows in causes.items():
        for first in range(0, len(rows), WAITS_MAX):
            yield After(role, limit_ms, known_by, moment, rows[first : first + WAITS_MAX])


def unorderable(cell: Cell) -> str | None:
    """Why agents cannot have a cell's transfers wait for each other; None if they can, or none does."""
    groups = [group for group in cell.groups if waits(group.flows)]
    for group in groups:
        waiting = f"{group.name} has transfers that wait for others ({_waiting_key(group)})"
        if group.transport.service == "uc":
            return f"{waiting}, and what UC loses never arrives: set transport to one over RC or TCP"
        if any(flow.verb == "read" for flow in group.flows):
            return f"{waiting}, and no agent knows when a READ's source is done: set verb to write or send"
    return _crowded([flow for group in groups for flow in group.flows])


def _crowded(flows: Sequence[Flow]) -> str | None:
    """A host with more ends than one agent has roles, which tell each other of their transfers."""
    ends: dict[str, int] = {}
    for flow in flows:
        for host in (flow.source, flow.destination):
            ends[host] = ends.get(host, 0) + 1
    crowded = next((host for host, count in ends.items() if count > ROLES_MAX), None)
    if crowded is None:
        return None
    words = f"{ends[crowded]} ends of flows at {crowded} tell each other when transfers have arrived"
    return f"{words}, and an agent has at most {ROLES_MAX}: let fewer hosts take part"


def _waiting_key(group: Group) -> str:
    """The key that makes transfers wait."""
    keys = type(group.asked.workload).model_fields
    return "loop" if "loop" in keys else f"kind: {keys['kind'].default}"
