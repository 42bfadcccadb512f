"""Faults at the ports of Linux switches."""

from pathlib import Path

import pytest
from helpers.cell_keys import FAULTS_OWN
from helpers.experiments import cell_of

from rogue.harness.cell.network import OutageAsked
from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.ends.switch_ports import faulty_ports, first_fault, outages, unsupported_fault
from rogue.workloads.faults import FAULTS

LOSS = "faults=[{kind: loss, target: h2, %s}]"
PORTS = {f"s0->h{host}": PortSettings(rate_bps=10**8) for host in range(4)}


@pytest.mark.parametrize(
    "kind", [kind for kind in FAULTS if kind not in ("link_cut", "link_failures", "loss")]
)
def test_every_fault_that_is_no_links_is_refused_by_name(tmp_path: Path, kind: str) -> None:
    others = ", ".join(f"{key}: {value}" for key, value in FAULTS_OWN[kind][0].items())
    cell = cell_of(tmp_path, f"faults=[{{kind: {kind}, {others}}}]")
    assert unsupported_fault(cell) == f"a Linux switch has no {FAULTS[kind].__name__}"
    assert first_fault(cell) == FAULTS[kind].__name__


def test_what_goes_wrong_has_a_name(tmp_path: Path) -> None:
    cut = "faults=[{kind: link_cut, target: h2, at: 1s, duration: 2s}]"
    asked = (cut, LOSS % "one_in: 8", "faults=[]")
    assert [first_fault(cell_of(tmp_path, each)) for each in asked] == ["LinkCut", "Loss", None]


def test_a_loss_of_nothing_changes_nothing(tmp_path: Path) -> None:
    assert faulty_ports(cell_of(tmp_path, LOSS % "one_in: 0"), PORTS) == PORTS


@pytest.mark.parametrize(
    ("keys", "probability", "mask"),
    [("probability: 0.01", 0.01, None), ("one_in: 1024, model: identification", 0.0, 1023)],
)
def test_losses_strike_what_comes_to_the_host(
    tmp_path: Path, keys: str, probability: float, mask: int | None
) -> None:
    ports = faulty_ports(cell_of(tmp_path, LOSS % keys), PORTS)
    struck = ports.pop("s0->h2")
    assert (struck.loss_probability, struck.lost_ip_id_mask) == (probability, mask)
    assert {(port.loss_probability, port.lost_ip_id_mask) for port in ports.values()} == {(0.0, None)}


def test_a_cut_between_switches_has_two_ports(tmp_path: Path) -> None:
    cut = cell_of(
        tmp_path,
        "topology={kind: dumbbell, hosts_per_side: 2, rate: 100Mbps, bottleneck_rate: 50Mbps}",
        "faults=[{kind: link_cut, target: s0-s1, at: 1s, duration: 2s}]",
    )
    ports = ["s0->h0", "s0->h1", "s0->s1", "s1->s0", "s1->h2", "s1->h3"]
    outage = OutageAsked("s0", "s1", at_ns=10**9, duration_ns=2 * 10**9)
    assert outages(cut, ports) == [(["s0->s1", "s1->s0"], outage)]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("one_in: 8, model: burst", "the switch loses packets independently or by IP ID"),
        ("one_in: 8, from: 1ms", "the switch loses packets from beginning to end"),
        ("one_in: 8, until: 1ms", "the switch loses packets from beginning to end"),
    ],
)
def test_what_ports_cannot(tmp_path: Path, keys: str, reason: str) -> None:
    assert str(unsupported_fault(cell_of(tmp_path, LOSS % keys))).startswith(reason)
    assert unsupported_fault(cell_of(tmp_path, LOSS % "one_in: 8")) is None


def test_the_first_reason_counts(tmp_path: Path) -> None:
    storm = "{kind: pause_storm, target: h2, at: 1ms, duration: 1ms}"
    cell = cell_of(tmp_path, f"faults=[{{kind: loss, target: h1, one_in: 8}}, {storm}]")
    assert unsupported_fault(cell) == "a Linux switch has no PauseStorm"
