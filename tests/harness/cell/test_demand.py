"""Flows that a group asks for."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.cell.demand import carried_verbs
from rogue.workloads.transports import parse_transport

GROUP = "traffic=[{name: bulk, workload: {kind: incast, senders: 2, size: 1MB, verb: read}}]"


def test_a_transport_without_read_writes(tmp_path: Path) -> None:
    assert dict(carried_verbs(parse_transport("rogue"))) == {"write": "write", "read": "read", "send": "send"}
    assert dict(carried_verbs(parse_transport("dctcp"))) == {
        "write": "write",
        "read": "write",
        "send": "write",
    }
    (group,) = cell_of(tmp_path, "workload=null", GROUP, "transports=[rogue-uc]").groups
    assert [flow.verb for flow in group.flows] == ["write", "write"]
    assert group.demand.replaced == (("read", "write"),)


def test_transports_that_carry_the_same_verbs_share_the_flows(tmp_path: Path) -> None:
    """A hundred thousand of them take seconds, for each of the cells that a plan has."""
    irn, lossy, rogue = (
        cell_of(tmp_path, "workload=null", GROUP, f"transports=[{name}]").groups[0].flows
        for name in ("irn", "roce-lossy", "rogue")
    )
    assert irn is lossy
    assert irn is not rogue


def test_they_share_the_order_of_transfers_that_wait(tmp_path: Path) -> None:
    ring = "workload={kind: collective, hosts: 3, size: 1MB}"
    irn, lossy = (
        cell_of(tmp_path, ring, f"transports=[{name}]").groups[0].demand for name in ("irn", "roce-lossy")
    )
    assert irn.order is lossy.order
    assert not irn.order.has_circle
