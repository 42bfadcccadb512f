"""Parts of switches in a cell: what the simulator is told, and what cannot be beside them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.switch_files import NAMES, SWITCHES, loaded

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.features import judge_of, marking, switch_control_facts, switch_controls
from rogue.harness.testbeds.simulator.network import build_network

BASE = """\
name: small
topology: {kind: two_tier, racks: 2, hosts_per_rack: 2, leaves: 2, rate: 1Gbps, uplink_rate: 1Gbps}
workload: {kind: incast, senders: 2, size: 20KB}
transports: [roce+dcqcn]
measure: [throughput]
"""


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    with loaded(*NAMES):
        yield


def cell(folder: Path, controls: str, *more: str) -> Cell:
    return cell_of(folder, f"topology.switch_controls={controls}", *more, text=BASE)


def test_every_switch_is_told_of_it_with_its_values(tmp_path: Path) -> None:
    asked = cell(tmp_path, "[{name: codel, target: 20us}, drill]")
    codel, drill = switch_controls(asked)
    assert (codel.name, codel.parameters) == ("codel", {"target_ns": 20_000})
    assert (drill.name, drill.parameters) == ("drill", {})
    assert switch_control_facts(asked) == {
        "switch_control_codel": "target_ns 20000, interval_ns 100000, packet_bytes 1086",
        "switch_control_drill": "drawn 2",
    }
    large = switch_control_facts(cell(tmp_path, "[{name: step, above: 12345678B}]"))
    assert large == {"switch_control_step": "above_bytes 12345678"}
    assert switch_control_facts(cell(tmp_path, "[hashed]")) == {"switch_control_hashed": "without parameters"}


def test_it_takes_the_place_of_the_marking_that_a_transport_asks_for(tmp_path: Path) -> None:
    judged, chosen = cell(tmp_path, "[step]"), cell(tmp_path, "[drill]")
    assert (judge_of(judged), marking(judged)) == ("step", {})
    assert judge_of(chosen) is None
    assert list(marking(chosen)) == [0]


def test_the_engine_has_it(tmp_path: Path) -> None:
    plain, judged = cell(tmp_path, "[]", "transports=[roce]"), cell(tmp_path, "[step]", "transports=[roce]")
    counters = [
        {name for *_, name, _ in build_network(each).simulation.counters()} for each in (plain, judged)
    ]
    assert counters[1] - counters[0] == {"marked_packets"}


def test_groups_may_have_priorities_where_packets_are_judged(tmp_path: Path) -> None:
    traffic = "traffic=[{name: a, priority: 3, workload: {kind: incast, senders: 2, size: 20KB}}]"
    text = BASE.replace("workload: {kind: incast, senders: 2, size: 20KB}\n", "")
    bed = SimulatorTestbed()
    for controls, is_refused in (("[]", True), ("[step]", False), ("[drill]", True)):
        words = (f"topology.switch_controls={controls}", traffic, "transports=[roce]")
        assert (bed.unsupported(cell_of(tmp_path, *words, text=text)) is not None) == is_refused


@pytest.mark.parametrize(
    ("controls", "transport", "words"),
    [
        (
            "[step]",
            "{name: roce+dcqcn, kmin: 9KB}",
            "kmin is about the marking that step replaces: leave it out",
        ),
        (
            "[drill]",
            "roce-uc",
            "drill chooses ways packet by packet, and roce-uc needs one way, for UC gives up",
        ),
        ("[drill]", "roce+hpcc", "roce+hpcc needs one way, for it compares what the same ports wrote"),
        ("[drill]", "rogue", None),
        ("[drill]", "dctcp", None),
        ("[step]", "roce-uc", None),
    ],
)
def test_transports_beside_it(tmp_path: Path, controls: str, transport: str, words: str | None) -> None:
    reason = SimulatorTestbed().unsupported(cell(tmp_path, controls, f"transports=[{transport}]"))
    assert reason is None if words is None else words in str(reason)


def test_what_cannot_be_made_is_told_before_the_run_with_its_place(tmp_path: Path) -> None:
    with loaded("grim"):
        asked = cell(tmp_path, "{name: grim, mood: 1}", "transports=[roce]")
        reason = str(SimulatorTestbed().unsupported(asked))
    assert reason == f"the plug-in raises at {SWITCHES / 'grim.h'}: its constructor: not today"


def test_other_testbeds_refuse_it_by_name(tmp_path: Path) -> None:
    star = "topology={kind: star, hosts: 4, rate: 100Mbps, switch_controls: step}"
    asked = cell_of(tmp_path, star, "transports=[rogue]", text=BASE)
    reason = str(KernelTestbed().unsupported(asked))
    assert "topology.switch_controls is for the simulator, no switch of ours runs" in reason
