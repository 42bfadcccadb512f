"""What the engine would refuse of a cell's network is said by the plan."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of, load_text

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.plan.plan import make_plan
from rogue.harness.testbeds.simulator import SimulatorTestbed, support
from rogue.harness.testbeds.simulator.flows import GroupFabric, connect_flow
from rogue.harness.testbeds.simulator.network import build_links, build_network
from rogue.harness.testbeds.simulator.support import is_same_for_every_seed, unbuildable, unsupported
from rogue.simulator import Simulation, SimulationError

PFC = "transports=[roce+pfc]"
RING = "topology={kind: ring, switch_count: 4, rate: 10Gbps}"
ACROSS = "workload={kind: permutation, shift: 2, size: 1MB}"
NO_PROBE = "probe=null"
TWO_WAYS = (
    "{kind: misrouting, target: s0-s1, destination: h2}, {kind: misrouting, target: s1-s0, destination: h2}"
)

REFUSED = [
    (["topology.buffer=20KB", PFC], "expected a buffer of s0 above the headroom of its links, which needs"),
    (["topology.switch=voq", "topology.buffer=5KB", PFC], "above the headroom of this link, which needs"),
    (["topology.pause_headroom=100MB", PFC], "expected a buffer of s0 above the headroom of its links"),
    (["topology.pause_xoff=10MB", PFC], "expected xoff_bytes of s0 up to its buffer less the headroom"),
    (["topology.pause_xoff=1B", PFC], "expected xon_gap_bytes below xoff_bytes, 1, got"),
    (["topology.delay=10s"], "expected delay_ps as an integer from 0 to"),
    (["topology.delay=100ms"], "got timeout_exponent 14, which is 67108864000 ps; raise it"),
    (["topology.delay=10ms", "transports=[dctcp]"], "expected rto_min_ns above the delay of the round trip"),
    (["transports=[{name: irn, rto_low: 1us}]"], "expected rto_low_ns above the delay of the round trip"),
    (
        [RING, ACROSS, NO_PROBE, f"faults=[{TWO_WAYS}]"],
        "packets from 'h0' to 'h2' go in a loop: s0, s1, s0",
    ),
]


@pytest.mark.parametrize(("settings", "sentence"), REFUSED)
def test_what_the_engine_refuses_is_known_before(tmp_path: Path, settings: list[str], sentence: str) -> None:
    cell = cell_of(tmp_path, *settings)
    assert unsupported(cell)
    assert sentence in (unbuildable(cell) or "")
    with pytest.raises(SimulationError) as caught:
        build_network(cell)
    assert str(caught.value) == unbuildable(cell)


@pytest.mark.parametrize(
    ("destination", "who"),
    [
        ("h0", "connect h1-h0: packets from 'h1' to 'h0'"),
        ("h1", "connect h1-h0: packets from 'h0' to 'h1'"),
        ("h2", None),
    ],
)
def test_every_pair_of_hosts_is_tried(tmp_path: Path, destination: str, who: str | None) -> None:
    """The loop lies on the way of the second flow alone, of its packets or of what acknowledges them."""
    faults = ", ".join(
        f"{{kind: misrouting, target: {way}, destination: {destination}}}" for way in ("s1-s2", "s2-s1")
    )
    flows = "[{source: h0, destination: h3}, {source: h1, destination: h0}]"
    traffic = f"workload={{kind: pairs, run_for: 1ms, flows: {flows}}}"
    refusal = unbuildable(cell_of(tmp_path, RING, traffic, NO_PROBE, f"faults=[{faults}]"))
    assert refusal is None if who is None else str(refusal).startswith(f"{who} go in a loop")


def test_the_probe_is_tried_too(tmp_path: Path) -> None:
    """It alone comes by s2: the flow goes from h1 to h0."""
    ways = (f"{{kind: misrouting, target: {way}, destination: h1}}" for way in ("s3-s2", "s2-s3"))
    traffic = "workload={kind: pairs, run_for: 1ms, flows: [{source: h1, destination: h0}]}"
    probe = "probe={kind: write0, interval: 1ms, target: h1}"
    refusal = unbuildable(cell_of(tmp_path, RING, traffic, probe, f"faults=[{', '.join(ways)}]"))
    assert str(refusal).startswith("connect h2-h1: packets from 'h2' to 'h1' go in a loop: s2, s3, s2")


FAT_TREE = "topology={kind: fat_tree, k: 4, rate: 10Gbps}"
"""Of 15 hosts that one may send to, one is in the same rack."""
TWO_RACKS = "topology={kind: two_tier, racks: 2, hosts_per_rack: 8, leaves: 1, rate: 10Gbps}"
"""Of 9 hosts 8 are in one rack."""
POISSON = "workload={kind: poisson, load: 0.5, size: 1KB, arrive_for: %s, drain_for: 1ms}"


@pytest.mark.parametrize(
    ("settings", "is_same"),
    [
        ([], True),
        ([POISSON % "10ms", NO_PROBE], True),
        ([POISSON % "100us", NO_PROBE], True),
        ([POISSON % "1us", NO_PROBE], False),
        ([FAT_TREE, POISSON % "100us", NO_PROBE], True),
        ([FAT_TREE, POISSON % "20us", NO_PROBE], False),
        ([FAT_TREE, POISSON % "30us", "workload.hosts=2", NO_PROBE], True),
        ([FAT_TREE, POISSON % "30us", "workload.hosts=3", NO_PROBE], False),
        ([TWO_RACKS, POISSON % "20us", NO_PROBE], True),
        ([TWO_RACKS, POISSON % "20us", "workload.hosts=9", NO_PROBE], False),
        ([TWO_RACKS, POISSON % "20us", "workload.hosts=9", "workload.receivers=1", NO_PROBE], True),
        (["workload={kind: permutation, size: 1MB}", NO_PROBE], False),
        ([RING, ACROSS, NO_PROBE], True),
        ([RING, ACROSS, NO_PROBE, "topology.ttl_hops=9", f"faults=[{TWO_WAYS}]"], False),
        ([RING, ACROSS, NO_PROBE, "faults=[{kind: flooding, target: s0, destination: h2}]"], False),
    ],
)
def test_each_seed_is_tried_where_it_may_decide(tmp_path: Path, settings: list[str], is_same: bool) -> None:
    """Where a hash sends packets in a loop or not, and where few transfers are drawn."""
    assert is_same_for_every_seed(cell_of(tmp_path, *settings)) is is_same


def test_a_network_is_built_once_for_all_repetitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And of its flows one of each group is connected on each shape of path."""
    built, connected = list[str](), list[str]()

    def build(cell: Cell) -> Simulation:
        built.append(cell.id)
        return build_links(cell)

    def connect(fabric: GroupFabric, planned: PlannedFlow) -> object:
        connected.append(planned.flow_id)
        return connect_flow(fabric, planned)

    monkeypatch.setattr(support, "build_links", build)
    monkeypatch.setattr(support, "connect_flow", connect)
    fat_tree = "topology={kind: fat_tree, k: 4, rate: 10Gbps}"
    settings = fat_tree, POISSON % "2ms", NO_PROBE, "transports=[irn, roce-lossy]", "repetitions=5"
    plan = make_plan(load_text(tmp_path, SMALL, *settings), SimulatorTestbed())
    assert len(plan.runnable) == 10
    assert built == ["irn-r1", "roce-lossy-r1"]
    assert len(connected) == 2 * 3  # two, four or six links


def test_what_can_be_built_is_not_refused(tmp_path: Path) -> None:
    for transport in ("rogue", "rogue-uc", "roce+pfc", "irn+hpcc", "dctcp", "roce+rocc"):
        assert unbuildable(cell_of(tmp_path, f"transports=[{transport}]")) is None
