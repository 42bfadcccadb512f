"""Faults at the ports of Linux switches."""

from pathlib import Path

import pytest
from helpers.cell_keys import FAULTS_OWN
from helpers.experiments import cell_of

from rogue.harness.provisioning.ports import PortSettings
from rogue.harness.testbeds.ends.port_faults import (
    Outage,
    PortChange,
    fault_ports,
    faulty_ports,
    port_change,
    unsupported_fault,
)
from rogue.workloads.faults import FAULTS, Fault

LOSS = "faults=[{kind: loss, target: h2, %s}]"
PORTS = {f"s0->h{host}": PortSettings(rate_bps=10**8) for host in range(4)}


class Lightning(Fault):
    """A fault that no testbed has heard of."""


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_changes_ports_or_is_refused_by_name(kind: str) -> None:
    fault = FAULTS[kind].model_validate({"kind": kind, **FAULTS_OWN[kind][0]})
    change = port_change(fault)
    assert change != PortChange()
    assert change.unsupported in (None, f"a Linux switch has no {type(fault).__name__}")


def test_a_fault_without_a_function_is_refused_by_name() -> None:
    assert port_change(Lightning(target="h1")).unsupported == "a Linux switch has no Lightning"


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
    (fault,) = cut.experiment.faults
    ports = ["s0->h0", "s0->h1", "s0->s1", "s1->s0", "s1->h2", "s1->h3"]
    assert fault_ports(fault, cut.topology, ports) == ["s0->s1", "s1->s0"]
    assert port_change(fault).outage == Outage(at_ns=10**9, duration_ns=2 * 10**9)


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
