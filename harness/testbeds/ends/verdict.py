"""Judges the flows of a cell by the results of both ends."""

from collections.abc import Mapping, Sequence

from rogue.agent.node.messages import Results
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.testbeds.base import Failure
from rogue.harness.testbeds.ends.memories import compared_bytes
from rogue.harness.testbeds.ends.roles import NodeFlow
from rogue.harness.testbeds.ends.tables import ENDS
from rogue.workloads.records import FailureKind


def failure_of(cell: Cell, flows: Sequence[NodeFlow], results: Mapping[str, Results]) -> Failure | None:
    """The failure of the comparison of bytes, or of the time limit; None if there is none.

    results: of both ends of every flow, by role.
    """
    return _differing_memories(flows, results) or _late(cell, flows, results)


def _differing_memories(flows: Sequence[NodeFlow], results: Mapping[str, Results]) -> Failure | None:
    for flow in flows:
        sums = {results[flow.role(end)].sha256 for end in ENDS}
        if _must_agree(flow, results[flow.role("requester")]) and len(sums) > 1:
            text = f"{flow.flow_id}: the memories of the two ends differ after the last transfer"
            return Failure(FailureKind.INVALID_RESULT, text)
    return None


def _must_agree(flow: NodeFlow, result: Results) -> bool:
    """Whether both ends must hold the same bytes: after a whole transfer over a reliable connection.

    SENDs that went out again on the shadow queue pair have filled other receives than they would have.
    """
    is_out_of_place = flow.flow.verb == "send" and bool(result.facts.get("again_bytes"))
    return compared_bytes(flow) > 0 and result.transfers_ok > 0 and not is_out_of_place


def _late(cell: Cell, flows: Sequence[NodeFlow], results: Mapping[str, Results]) -> Failure | None:
    """Return the failure of flows whose transfers must all be done, and are not at the time limit."""
    carriers = [flow for flow in flows if not flow.is_probe]
    waited_for = [flow for flow in carriers if flow.planned.carrier.duration_ns is None]
    late = [flow for flow in waited_for if results[flow.role("requester")].transfers_unfinished]
    if not late:
        return None
    limit_s = cell.timing.limit_ns / SECOND_NS
    text = f"{len(late)} of {len(carriers)} flows were not done after {limit_s:g} seconds"
    return Failure(FailureKind.TIMEOUT, f"{text}; raise time_limit if they need longer")
