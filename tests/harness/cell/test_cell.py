"""A cell, and what its experiment means for it."""

import pickle
from pathlib import Path

import pytest
from helpers.experiments import cell_of

GROUPS = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: bulk, workload: {kind: incast, senders: 2, size: 1MB, verb: read}, parameters: {alpha_packets: 1}}
  - {name: rival, workload: {kind: incast, senders: 1, size: 1MB, verb: read}, transport: dctcp, priority: 3}
transports: [{name: rogue, label: ours, segment: 16KiB}, rogue-uc]
"""
MANY = "workload={kind: many_pairs, hosts: 3, load: 0.9, arrive_for: 10ms}"


def test_groups_have_the_cells_transport_or_their_own(tmp_path: Path) -> None:
    bulk, rival = cell_of(tmp_path, text=GROUPS).groups
    assert (str(bulk.transport), bulk.label, bulk.priority) == ("rogue", "ours", 0)
    assert bulk.parameters == {"segment": "16KiB", "alpha_packets": 1}
    assert (str(rival.transport), rival.label, rival.priority) == ("dctcp", "dctcp", 3)
    assert rival.parameters == {}


def test_a_groups_own_value_goes_before_the_cells(tmp_path: Path) -> None:
    transports = "transports=[{name: rogue, alpha_packets: 3}]"
    assert cell_of(tmp_path, transports, text=GROUPS).groups[0].parameters["alpha_packets"] == 1


def test_flows_by_group_without_the_probe(tmp_path: Path) -> None:
    assert [(group.name, len(group.flows)) for group in cell_of(tmp_path).groups] == [("main", 2)]


def test_a_transport_without_read_writes_in_the_same_direction(tmp_path: Path) -> None:
    rogue, rogue_uc = (cell_of(tmp_path, text=GROUPS, index=index) for index in (0, 1))
    ends = [[(flow.source, flow.destination) for flow in cell.groups[0].flows] for cell in (rogue, rogue_uc)]
    assert ends[0] == ends[1] == [("h0", "h3"), ("h1", "h3")]


def test_what_was_replaced_is_said(tmp_path: Path) -> None:
    rogue, rogue_uc = (cell_of(tmp_path, text=GROUPS, index=index) for index in (0, 1))
    assert rogue.replaced_verbs == "dctcp has no read: write in the same direction of data"
    assert rogue_uc.replaced_verbs == (
        "dctcp has no read: write in the same direction of data; "
        "rogue-uc has no read: write in the same direction of data"
    )
    assert cell_of(tmp_path).replaced_verbs is None


def test_a_group_in_which_nothing_happens_is_named(tmp_path: Path) -> None:
    late = "workload={kind: many_pairs, hosts: 3, load: 0.5, arrive_for: 1ns}"
    told = "nothing happens in main: its first transfer would come after its end; let it run longer"
    assert cell_of(tmp_path, late).idleness == told
    assert cell_of(tmp_path).idleness is None


def test_a_program_without_a_message_has_nothing_to_measure(tmp_path: Path) -> None:
    """Running longer would not help."""
    (tmp_path / "calc.goal").write_text("num_ranks 2\nrank 0 {\nl1: calc 100\n}\nrank 1 {\nl1: calc 100\n}\n")
    idle = cell_of(tmp_path, "workload={kind: goal, file: calc.goal}").idleness
    assert idle == "main has no transfer that could be measured; add one"


@pytest.mark.parametrize("idle", [("a",), ("b",), ("b", "c")])
def test_of_several_groups_the_first_one_in_which_nothing_happens_is_named(
    tmp_path: Path, idle: tuple[str, ...]
) -> None:
    pairs = "workload: {kind: many_pairs, hosts: 3, load: 0.9, arrive_for: "
    groups = ", ".join(f"{{name: {name}, {pairs}{'1ns' if name in idle else '10ms'}}}}}" for name in "abc")
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{groups}]")
    assert [group.name for group in cell.groups if not group.flows] == list(idle)
    assert (cell.idleness or "").startswith(f"nothing happens in {idle[0]}: ")


def test_receivers(tmp_path: Path) -> None:
    assert cell_of(tmp_path).receivers == {"h3": 2}
    assert set(cell_of(tmp_path, MANY).receivers) == {"h0", "h1", "h3"}
    assert cell_of(tmp_path).busiest_receiver == "h3"


def test_the_probe_has_a_host_of_its_own_and_the_first_groups_class(tmp_path: Path) -> None:
    traffic = "traffic=[{name: a, workload: {kind: incast, senders: 1, size: 1MB}, priority: 3}]"
    probe = cell_of(tmp_path, "workload=null", traffic).probe
    assert probe is not None
    assert (probe.flow.source, probe.flow.destination, probe.carrier.priority) == ("h2", "h3", 3)
    assert cell_of(tmp_path, "probe=null").probe is None


def test_it_is_worked_out_once_and_goes_to_another_process(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    assert cell.groups is cell.groups
    assert cell.timing is cell.timing
    assert pickle.loads(pickle.dumps(cell)) == cell
