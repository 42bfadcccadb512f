"""Tests: groups of traffic in a cell: their flows, transport and traffic class."""

import gc
from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.demand import carried_verbs, gc_paused
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
    assert not irn.order.has_cycle


def test_nothing_is_looked_for_inside_and_all_is_as_before_afterwards() -> None:
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_passes_through() -> None:
    with pytest.raises(ValueError, match="inside"), gc_paused():
        raise ValueError("inside")
    assert gc.isenabled()


CARRIER_GROUP = (
    "{name: own, workload: {kind: incast, senders: 2, size: 1MB}, transport: roce, parameters: {window: 1}}"
)


def test_which_parameters_are_a_groups_own(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: rogue, segment: 16KiB}]")
    assert not cell.groups[0].states("segment")
    (own,) = cell_of(tmp_path, "workload=null", f"traffic=[{CARRIER_GROUP}]").groups
    assert own.states("window")
    assert own.states("segment"), "whatever is wrong with its transport is its own mistake"


def test_the_probe_says_that_it_is_one(tmp_path: Path) -> None:
    """Whatever a group may be called."""
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{CARRIER_GROUP.replace('own', 'probe')}]")
    assert cell.probe is not None
    assert cell.probe.is_probe
    assert (cell.probe.flow_id, cell.probe.carrier.label) == ("probe/h2->h3", "roce")
    assert cell.groups[0].name == cell.probe.carrier.name
