"""Controls of receivers in a cell: what the simulator is told, and what cannot be beside them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.receiver_files import NAMES, RECEIVERS, loaded

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.features import (
    SENDERS_KEYS,
    marking,
    receiver_control,
    receiver_control_facts,
    unsupported_receiver_control,
)
from rogue.harness.testbeds.simulator.nics import nic_settings, parameter_mistake
from rogue.simulator import ReceiverControl

BASE = """\
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


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    with loaded(*NAMES):
        yield


def cell(folder: Path, transport: str = "uet+ndp") -> Cell:
    return cell_of(folder, f"transports=[{transport}]", text=BASE)


def test_the_engine_is_told_of_it_with_its_values(tmp_path: Path) -> None:
    asked = cell(tmp_path, "{name: uet+eqds, credit_packets: 3, nscc: 0, credit_max: 50KB}")
    (group,) = asked.groups
    reliability = nic_settings(asked, group).reliability
    assert reliability is not None
    assert reliability.receiver == ReceiverControl("eqds", {"credit_packets": 3})
    assert (reliability.name, reliability.parameters["credit_max_bytes"]) == ("uet-rccc", 50_000)
    assert not {"credit_packets", "credit_rate"} & set(reliability.parameters)
    assert receiver_control_facts(asked) == {"receiver_control_eqds": "credit_packets 3, share 0.99"}
    assert SimulatorTestbed().unsupported(asked) is None


def test_who_has_none_is_told_of_none(tmp_path: Path) -> None:
    for transport in ("uet+rccc", "uet", "roce"):
        usual = cell(tmp_path, transport)
        assert receiver_control(usual.groups[0]) is None
        assert receiver_control_facts(usual) == {}


def test_its_parameters_take_the_place_of_the_engines(tmp_path: Path) -> None:
    assert parameter_mistake(cell(tmp_path, "{name: uet+rccc, credit_rate: 0.9}")) is None
    assert {"nscc", "credit_max", "kmin"} < set(SENDERS_KEYS)
    mistake = parameter_mistake(cell(tmp_path, "{name: uet+ndp, credit_rate: 0.9}"))
    assert mistake is not None
    assert mistake.key == "credit_rate"
    mistake = parameter_mistake(cell(tmp_path, "{name: uet+ndp, share: 2}"))
    assert mistake is not None
    assert (mistake.key, "0.01" in mistake.expected) == ("share", True)


def test_switches_mark_nothing_in_front_of_hosts_as_for_the_engines(tmp_path: Path) -> None:
    assert marking(cell(tmp_path)) == marking(cell(tmp_path, "uet+rccc")) != marking(cell(tmp_path, "uet"))


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
def test_a_host_grants_in_one_way(one: str, other: str, is_refused: bool, tmp_path: Path) -> None:
    text = TRAFFIC.format(one=one, other=other)
    reason = unsupported_receiver_control(cell_of(tmp_path, text=text))
    assert (reason is not None) == is_refused
    if reason is not None:
        assert " of b grants in another way than uet+ndp of a, and a host grants in one way" in reason
        assert SimulatorTestbed().unsupported(cell_of(tmp_path, text=text)) == reason


def test_what_cannot_be_made_is_told_before_the_run_with_its_place(tmp_path: Path) -> None:
    with loaded("grim"):
        reason = str(SimulatorTestbed().unsupported(cell(tmp_path, "{name: uet+grim_grants, mood: 1}")))
    assert reason == f"the plug-in raises at {RECEIVERS / 'grim.h'}: its constructor: not today"


def test_other_testbeds_refuse_it_by_name(tmp_path: Path) -> None:
    assert "uet+ndp" in str(KernelTestbed().unsupported(cell(tmp_path)))
