"""Faults at ports of Linux switches: one function per fault, for every testbed with such ports."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial, singledispatch

from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.ports import PortSettings
from rogue.workloads.faults import Fault, LinkCut, Loss
from rogue.workloads.topologies import Link, Topology


@dataclass(frozen=True, slots=True)
class Outage:
    """When a port carries nothing, counted from the start of the traffic."""

    at_ns: int
    duration_ns: int


def _unchanged(port: PortSettings) -> PortSettings:
    return port


@dataclass(frozen=True, slots=True)
class PortChange:
    """What a fault does to each port of the link that it strikes."""

    settings: Callable[[PortSettings], PortSettings] = _unchanged
    """What it makes of the port's settings, from beginning to end."""
    outage: Outage | None = None
    unsupported: str | None = None
    """Why ports cannot do it; None if they can."""


@singledispatch
def port_change(fault: Fault) -> PortChange:
    """What a fault does to ports; those without a function of their own are refused by name."""
    return PortChange(unsupported=f"a Linux switch has no {type(fault).__name__}")


@port_change.register
def _(fault: LinkCut) -> PortChange:
    return PortChange(outage=Outage(fault.at_ns, fault.duration_ns))


@port_change.register
def _(fault: Loss) -> PortChange:
    if fault.model == "burst":
        return PortChange(
            unsupported="the switch loses packets independently or by IP ID; choose another model"
        )
    if fault.from_ns or fault.until_ns is not None:
        return PortChange(
            unsupported="the switch loses packets from beginning to end; leave from and until out"
        )
    return PortChange(partial(_losing, fault))


def _losing(fault: Loss, port: PortSettings) -> PortSettings:
    if fault.mean_probability == 0:
        return port
    if fault.model == "identification":
        return replace(port, lost_ip_id_mask=round(1 / fault.mean_probability) - 1)
    return replace(port, loss_probability=fault.mean_probability)


def unsupported_fault(cell: Cell) -> str | None:
    """The reason why ports of Linux switches cannot carry out a fault; None if they can."""
    reasons = (port_change(fault).unsupported for fault in cell.experiment.faults)
    return next((reason for reason in reasons if reason is not None), None)


def faulty_ports(cell: Cell, ports: Mapping[str, PortSettings]) -> dict[str, PortSettings]:
    """Settings by port, after the faults that last from beginning to end."""
    faulty = dict(ports)
    for fault in cell.experiment.faults:
        change = port_change(fault)
        for name in fault_ports(fault, cell.topology, ports):
            faulty[name] = change.settings(faulty[name])
    return faulty


def fault_ports(fault: Fault, topology: Topology, ports: Collection[str]) -> list[str]:
    """Which of these ports, egress ports of switches, stand on the link that a fault strikes.

    Deviation: what a host sends is lost only behind the first switch, for a host's own egress is not the
    switch's; losses of a host's link strike what comes to it.
    """
    link = fault.link(topology)
    assert link is not None, "an experiment with a fault that strikes no link"
    return [name for name in _directions(link) if name in ports]


def _directions(link: Link) -> tuple[str, str]:
    return f"{link.a}->{link.b}", f"{link.b}->{link.a}"
