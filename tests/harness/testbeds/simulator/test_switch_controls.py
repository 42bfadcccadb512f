"""Test controls of switches and receivers from plug-ins."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import receiver_files, switch_files
from helpers.experiments import cell_of
from helpers.receiver_files import RECEIVERS
from helpers.switch_files import SWITCHES

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.features import (
    SENDERS_KEYS,
    aqm_of,
    control_facts,
    marking,
    receiver_control,
    switch_controls,
    unsupported_receiver_control,
)
from rogue.harness.testbeds.simulator.nics import nic_settings, parameter_mistake
from rogue.simulator import ReceiverControl

SWITCH_BASE = """\
name: small
topology: {kind: two_tier, racks: 2, hosts_per_rack: 2, leaves: 2, rate: 1Gbps, uplink_rate: 1Gbps}
workload: {kind: incast, senders: 2, size: 20KB}
transports: [roce+dcqcn]
measure: [throughput]
"""


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    with switch_files.loaded(*switch_files.NAMES), receiver_files.loaded(*receiver_files.NAMES):
        yield


def switch_cell(folder: Path, controls: str, *more: str) -> Cell:
    return cell_of(folder, f"topology.switch_controls={controls}", *more, text=SWITCH_BASE)


def test_switch_controls_have_their_stated_values(tmp_path: Path) -> None:
    asked = switch_cell(tmp_path, "[{name: codel, target: 20us}, drill]")
    codel, drill = switch_controls(asked)
    assert (codel.name, codel.parameters) == ("codel", {"target_ns": 20_000})
    assert (drill.name, drill.parameters) == ("drill", {})
    assert control_facts(asked) == {
        "switch_control_codel": "target_ns 20000, interval_ns 100000, packet_bytes 1086",
        "switch_control_drill": "drawn 2",
    }
    large = control_facts(switch_cell(tmp_path, "[{name: step, above: 12345678B}]"))
    assert large == {"switch_control_step": "above_bytes 12345678"}
    assert control_facts(switch_cell(tmp_path, "[hashed]")) == {"switch_control_hashed": "without parameters"}


def test_judging_control_replaces_marking(tmp_path: Path) -> None:
    judged, chosen = switch_cell(tmp_path, "[step]"), switch_cell(tmp_path, "[drill]")
    assert (aqm_of(judged), marking(judged)) == ("step", {})
    assert aqm_of(chosen) is None
    assert list(marking(chosen)) == [0]


def test_judging_control_allows_priorities(tmp_path: Path) -> None:
    traffic = "traffic=[{name: a, priority: 3, workload: {kind: incast, senders: 2, size: 20KB}}]"
    text = SWITCH_BASE.replace("workload: {kind: incast, senders: 2, size: 20KB}\n", "")
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
            "drill chooses a path for each packet, and roce-uc needs one: UC gives up",
        ),
        ("[drill]", "roce+hpcc", "roce+hpcc needs one: it compares the telemetry of the same ports"),
        ("[drill]", "rogue", None),
        ("[drill]", "dctcp", None),
        ("[step]", "roce-uc", None),
    ],
)
def test_transports_beside_a_switch_control(
    tmp_path: Path, controls: str, transport: str, words: str | None
) -> None:
    reason = SimulatorTestbed().unsupported(switch_cell(tmp_path, controls, f"transports=[{transport}]"))
    assert reason is None if words is None else words in str(reason)


RECEIVER_BASE = """\
name: small
topology: {kind: star, hosts: 4, rate: 10Gbps}
workload: {kind: incast, senders: 2, size: 20KB}
transports: [uet+ndp]
measure: [throughput]
"""
TRAFFIC = """\
name: small
topology: {{kind: star, hosts: 4, rate: 10Gbps}}
traffic:
  - {{name: a, workload: {{kind: incast, senders: 2, size: 20KB}}, transport: {one}}}
  - {{name: b, workload: {{kind: incast, senders: 2, size: 20KB}}, transport: {other}}}
transports: [roce]
measure: [throughput]
"""


def receiver_cell(folder: Path, transport: str = "uet+ndp") -> Cell:
    return cell_of(folder, f"transports=[{transport}]", text=RECEIVER_BASE)


def test_receiver_control_has_its_stated_values(tmp_path: Path) -> None:
    asked = receiver_cell(tmp_path, "{name: uet+eqds, credit_packets: 3, nscc: 0, credit_max: 50KB}")
    (group,) = asked.groups
    reliability = nic_settings(asked, group).reliability
    assert reliability is not None
    assert reliability.receiver == ReceiverControl("eqds", {"credit_packets": 3})
    assert (reliability.name, reliability.parameters["credit_max_bytes"]) == ("uet-rccc", 50_000)
    assert not {"credit_packets", "credit_rate"} & set(reliability.parameters)
    assert control_facts(asked) == {"receiver_control_eqds": "credit_packets 3, share 0.99"}
    assert SimulatorTestbed().unsupported(asked) is None


def test_transports_without_receiver_control(tmp_path: Path) -> None:
    for transport in ("uet+rccc", "uet", "roce"):
        usual = receiver_cell(tmp_path, transport)
        assert receiver_control(usual.groups[0]) is None
        assert control_facts(usual) == {}


def test_receiver_control_replaces_the_engines_credit_parameters(tmp_path: Path) -> None:
    assert parameter_mistake(receiver_cell(tmp_path, "{name: uet+rccc, credit_rate: 0.9}")) is None
    assert {"nscc", "credit_max", "kmin"} < set(SENDERS_KEYS)
    for key, value in (("credit_rate", 0.9), ("share", 2)):
        mistake = parameter_mistake(receiver_cell(tmp_path, f"{{name: uet+ndp, {key}: {value}}}"))
        assert mistake is not None
        assert mistake.key == key
    assert "0.01" in mistake.expected


def test_marking_with_receiver_controls_spares_hosts(tmp_path: Path) -> None:
    assert (
        marking(receiver_cell(tmp_path))
        == marking(receiver_cell(tmp_path, "uet+rccc"))
        != marking(receiver_cell(tmp_path, "uet"))
    )


@pytest.mark.parametrize(
    ("one", "other", "is_refused"),
    [
        ("uet+ndp", "uet+ndp", False),
        ("uet+ndp", "uet", False),
        ("uet+ndp", "uet+eqds", True),
        ("uet+ndp", "uet+rccc", True),
        ("uet+ndp", "uet+ndp, parameters: {share: 0.5}", True),
    ],
)
def test_host_has_one_receiver_control(one: str, other: str, is_refused: bool, tmp_path: Path) -> None:
    text = TRAFFIC.format(one=one, other=other)
    reason = unsupported_receiver_control(cell_of(tmp_path, text=text))
    assert (reason is not None) == is_refused
    if reason is not None:
        assert " of b grants by another rule than uet+ndp of a, and a host has one rule" in reason
        assert SimulatorTestbed().unsupported(cell_of(tmp_path, text=text)) == reason


def test_control_that_cannot_be_built_is_refused_with_its_place(tmp_path: Path) -> None:
    with switch_files.loaded("grim"):
        reason = SimulatorTestbed().unsupported(switch_cell(tmp_path, "{name: grim, mood: 1}"))
    assert reason == f"the plug-in raises at {SWITCHES / 'grim.h'}: its constructor: not today"
    with receiver_files.loaded("grim"):
        reason = SimulatorTestbed().unsupported(receiver_cell(tmp_path, "{name: uet+grim_grants, mood: 1}"))
    assert reason == f"the plug-in raises at {RECEIVERS / 'grim.h'}: its constructor: not today"


def test_other_testbeds_refuse_controls_by_name(tmp_path: Path) -> None:
    star = "topology={kind: star, hosts: 4, rate: 100Mbps, switch_controls: step}"
    asked = cell_of(tmp_path, star, "transports=[rogue]", text=SWITCH_BASE)
    reason = str(KernelTestbed().unsupported(asked))
    assert "topology.switch_controls is for the simulator, no switch of ours runs" in reason
    assert "uet+ndp" in str(KernelTestbed().unsupported(receiver_cell(tmp_path)))
