"""The same cell means the same rates, buffers, marks and pauses on each testbed, or a stated refusal."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from helpers.experiments import cell_of
from helpers.testbed_orders import engine_calls, nodes_of, refusal

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.network import NetworkSpec
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.harness.testbeds.kernel.network import cell_ports as kernels_ports
from rogue.harness.testbeds.simulator import SimulatorTestbed, network
from rogue.harness.testbeds.ssh.switch_machine import cell_ports as nodes_ports
from rogue.simulator import Marking, PriorityFlowControl
from rogue.workloads.transports import BASES

STAR = "topology={kind: star, hosts: 4, rate: 10Gbps, buffer: 3MB, alpha: 2.0}"
LOT = "topology={kind: dumbbell, hosts_per_side: 2, rate: 10Gbps, bottleneck_rate: 1Gbps, buffer: 3MB}"
TRAFFIC = ("workload={kind: incast, senders: 2, size: 20KB}", "probe=null")
STATED = "[{name: dctcp, mark_above: 60KB}]"
TRANSPORTS = [
    *(f"[{name}]" for name in BASES),
    *(f"[{name}+{word}]" for name, base in BASES.items() for word in base.features),
    "[roce+pfc+dcqcn]",
    STATED,
]
ON_LINUX = [f"[{name}]" for name in ("rogue", "rogue-uc", "roce", "roce-uc", "dctcp", "cubic", "reno")] + [
    STATED
]


@pytest.mark.parametrize("topology", [STAR, LOT])
@pytest.mark.parametrize("transports", TRANSPORTS)
def test_simulator_has_the_requested_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topology: str, transports: str
) -> None:
    cell = _cell(tmp_path, topology, transports)
    assert refusal(SimulatorTestbed(), cell) is None
    _check_simulated(cell.network, *_engine_of(cell, monkeypatch))


@pytest.mark.parametrize("topology", [STAR, LOT])
@pytest.mark.parametrize("transports", TRANSPORTS)
def test_kernel_has_the_requested_network(tmp_path: Path, topology: str, transports: str) -> None:
    cell = _cell(tmp_path, topology, transports)
    reason = refusal(KernelTestbed(), cell)
    assert (reason is None) == (transports in ON_LINUX)
    if reason is None:
        _check_linux(cell.network, kernels_ports(cell))


@pytest.mark.parametrize("topology", [STAR, LOT])
@pytest.mark.parametrize("transports", TRANSPORTS)
def test_switch_between_nodes_has_the_requested_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topology: str, transports: str
) -> None:
    cell = _cell(tmp_path, topology, transports)
    bed, _ = nodes_of(cell, monkeypatch, kind="nodes")
    reason = refusal(bed, cell)
    assert (reason is None) == (transports in ON_LINUX)
    if reason is None:
        assert bed.differences(cell) == []
        _check_linux(cell.network, nodes_ports(cell, bed.inventory))


def test_emulated_machines_report_their_different_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell, stated = (_cell(tmp_path, STAR, transports) for transports in ("[dctcp]", STATED))
    bed, _ = nodes_of(cell, monkeypatch)
    (words,) = bed.differences(cell)
    assert "the experiment asks for 98670 bytes" in words
    assert bed.differences(stated) == []
    _check_linux(stated.network, nodes_ports(stated, bed.inventory))


def _cell(directory: Path, topology: str, transports: str) -> Cell:
    return cell_of(directory, topology, *TRAFFIC, f"transports={transports}")


def _engine_of(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> tuple[Mapping[str, Mapping[str, Any]], Mapping[str, int]]:
    """Return the arguments of the engine for each switch, and the rate of each port."""
    calls = engine_calls(monkeypatch)
    network.build_links(cell)
    links = [(each.values, each.named["rate_bps"]) for each in calls if each.name == "add_link"]
    rates_bps = {f"{a}->{b}": rate_bps for (a, b), rate_bps in links}
    rates_bps |= {f"{b}->{a}": rate_bps for (a, b), rate_bps in links}
    return {each.values[0]: each.named for each in calls if each.name == "add_switch"}, rates_bps


def _check_simulated(
    asked: NetworkSpec, switches: Mapping[str, Mapping[str, Any]], rates_bps: Mapping[str, int]
) -> None:
    for name, port in asked.ports.items():
        passed = switches[name.partition("->")[0]]
        assert (passed["buffer_bytes"], passed["alpha"], rates_bps[name]) == (
            port.switch.buffer_bytes, port.switch.alpha, port.link.rate_bps,
        )  # fmt: skip
    for passed in switches.values():
        assert passed["marking"] == {
            priority: Marking(
                curve.kmin_bytes, curve.kmax_bytes, curve.pmax, at=curve.at, spares_hosts=curve.spares_hosts
            )
            for priority, curve in asked.curves.items()
        }
        assert _pause_points(passed["flow_control"]) == [
            (priority, pauses.alpha, pauses.xoff_bytes) for priority, pauses in sorted(asked.pausing.items())
        ]


def _pause_points(control: PriorityFlowControl | None) -> list[tuple[int, float, int | None]]:
    return (
        [] if control is None else [(each, control.alpha, control.xoff_bytes) for each in control.priorities]
    )


def _check_linux(asked: NetworkSpec, ports: Mapping[str, PortSettings]) -> None:
    """Rates and marks alike; of a shared buffer, what one port could hold alone; nothing pauses."""
    assert not asked.pausing
    assert sorted(asked.ports) == sorted(ports)
    for name, port in ports.items():
        wanted = asked.ports[name]
        share = Fraction(wanted.switch.alpha) / (1 + Fraction(wanted.switch.alpha))
        assert port.rate_bps == wanted.link.rate_bps
        assert port.queue_bytes == int((wanted.switch.buffer_bytes or 0) * share)
        assert list(_marked(port)) == [curve.kmax_bytes for curve in asked.curves.values()]


def _marked(port: PortSettings) -> Iterator[int]:
    """K, where a port marks every packet beyond it and no packet below."""
    if port.red_max_bytes is not None:
        assert (port.red_min_bytes, port.red_probability) == (port.red_max_bytes - 1, 1.0)
        assert port.red_is_prompt
        yield port.red_max_bytes
