"""Flows of a cell."""

from pathlib import Path

from helpers.experiments import cell_of

from harness.testbeds.traffic import busiest_receiver, cell_flows, receivers, replaced_verbs

GROUPS = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: bulk, workload: {kind: incast, senders: 2, size: 1MB, verb: read}}
  - {name: rival, workload: {kind: incast, senders: 1, size: 1MB, verb: read}, transport: dctcp}
transports: [rogue, rogue-uc]
"""
MANY = "workload={kind: many_pairs, hosts: 3, load: 0.9, arrive_for: 10ms}"


def test_flows_by_group_without_the_probe(tmp_path: Path) -> None:
    assert {name: len(flows) for name, flows in cell_flows(cell_of(tmp_path)).items()} == {"main": 2}


def test_a_transport_without_read_writes_in_the_same_direction(tmp_path: Path) -> None:
    rogue, rogue_uc = (cell_of(tmp_path, text=GROUPS, index=index) for index in (0, 1))
    assert [flow.verb for flow in cell_flows(rogue)["bulk"]] == ["read", "read"]
    assert [flow.verb for flow in cell_flows(rogue)["rival"]] == ["write"]
    assert [flow.verb for flow in cell_flows(rogue_uc)["bulk"]] == ["write", "write"]
    ends = [
        [(flow.source, flow.destination) for flow in cell_flows(cell)["bulk"]] for cell in (rogue, rogue_uc)
    ]
    assert ends[0] == ends[1] == [("h0", "h3"), ("h1", "h3")]


def test_what_was_replaced_is_said(tmp_path: Path) -> None:
    rogue, rogue_uc = (cell_of(tmp_path, text=GROUPS, index=index) for index in (0, 1))
    assert replaced_verbs(rogue) == "dctcp has no read: write in the same direction of data"
    assert replaced_verbs(rogue_uc) == (
        "dctcp has no read: write in the same direction of data; "
        "rogue-uc has no read: write in the same direction of data"
    )
    assert replaced_verbs(cell_of(tmp_path)) is None


def test_receivers(tmp_path: Path) -> None:
    assert receivers(cell_of(tmp_path)) == {"h2": 2}
    assert set(receivers(cell_of(tmp_path, MANY))) == {"h0", "h1", "h2"}
    assert busiest_receiver(cell_of(tmp_path)) == "h2"


def test_transports_that_carry_the_same_verbs_share_the_flows(tmp_path: Path) -> None:
    """A hundred thousand of them take seconds, for each of the cells that a plan has."""
    irn, lossy, rogue = (
        cell_flows(cell_of(tmp_path, f"transports=[{name}]", text=GROUPS))["bulk"]
        for name in ("irn", "roce-lossy", "rogue")
    )
    assert irn is lossy
    assert irn is not rogue
