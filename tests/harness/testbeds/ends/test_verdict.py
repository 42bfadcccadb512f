"""What both ends say afterwards decides whether a cell has failed."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.node.messages import Results
from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.ends.roles import NodeFlow, plan_roles
from rogue.harness.testbeds.ends.tables import ENDS, failure_of
from rogue.workloads.records import FailureKind


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    return cell_of(tmp_path, "time_limit=2s")


def told(flows: list[NodeFlow], **of_first: object) -> dict[str, Results]:
    """Every transfer arrived; the first requester may say something else."""
    results = {
        flow.role(end): Results(flow.role(end), "ok", 0, 1, transfers_ok=1, sha256="a" * 64)
        for flow in flows
        for end in ENDS
    }
    results["flow0-requester"] = Results("flow0-requester", "ok", 0, 1, **{"sha256": "a" * 64, **of_first})  # type: ignore[arg-type]
    return results


def test_all_is_well(cell: Cell) -> None:
    flows = plan_roles(cell)
    assert failure_of(cell, flows, told(flows)) is None


def test_memories_that_differ_after_a_whole_transfer(cell: Cell) -> None:
    flows = plan_roles(cell)
    failure = failure_of(cell, flows, told(flows, transfers_ok=1, sha256="b" * 64))
    assert failure is not None and failure.kind is FailureKind.INVALID_RESULT
    assert failure.message.startswith(f"{flows[0].flow_id}: the memories")
    assert failure_of(cell, flows, told(flows, transfers_ok=0, sha256="b" * 64)) is None, "nothing arrived"


def test_an_unreliable_connection_may_lose_bytes(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[rogue-uc]")
    flows = plan_roles(cell)
    assert failure_of(cell, flows, told(flows, transfers_ok=1, sha256="b" * 64)) is None


def test_time_that_ran_out(cell: Cell) -> None:
    flows = plan_roles(cell)
    failure = failure_of(cell, flows, told(flows, transfers_unfinished=1))
    assert failure is not None and failure.kind is FailureKind.TIMEOUT
    assert (
        failure.message == "1 of 2 flows were not done after 2 seconds; raise time_limit if they need longer"
    )


@pytest.mark.parametrize("beside", ["", ", {name: finite, workload: {kind: ping, size: 1KB}}"])
@pytest.mark.parametrize(
    "workload",
    [
        "{kind: incast, senders: 2, size: 1MB, repeat_for: 5ms}",
        "{kind: poisson, size: 1MB, load: 1, arrive_for: 5ms}",
    ],
)
def test_traffic_that_ends_by_the_clock_is_never_late(tmp_path: Path, workload: str, beside: str) -> None:
    groups = f"traffic=[{{name: timed, workload: {workload}}}{beside}]"
    flows = plan_roles(cell := cell_of(tmp_path, "workload=null", groups))
    assert failure_of(cell, flows, told(flows, transfers_unfinished=1)) is None
