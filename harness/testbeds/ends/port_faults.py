"""Losses and outages of links at ports of Linux switches, for every testbed with such ports."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import chain
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.links_asked import OutageAsked
from rogue.harness.provisioning.ports import PortSettings
from rogue.workloads.faults import LinkCut, Loss

NO_DIRECTION: Final = "only the simulator cuts one direction of a link: leave one_way out"
NO_REROUTING: Final = "only the simulator's switches forward around a link: leave reroute_after out"


def unsupported_fault(cell: Cell) -> str | None:
    """The reason why ports of Linux switches cannot carry out a fault; None if they can."""
    reasons = (_unsupported_loss(loss) for link in cell.network.links for loss in link.losses)
    broken = (f"a Linux switch has no {type(fault).__name__}" for fault in cell.network.breakages)
    rerouted = (NO_REROUTING for outage in cell.network.outages if outage.reroute_after_ns is not None)
    halved = (NO_DIRECTION for outage in cell.network.outages if outage.one_way)
    return next((reason for reason in chain(reasons, rerouted, halved, broken) if reason is not None), None)


def first_fault(cell: Cell) -> str | None:
    """The kind of some fault; None if nothing goes wrong on purpose."""
    network = cell.network
    losses = (type(loss).__name__ for link in network.links for loss in link.losses)
    cuts = (LinkCut.__name__ for _ in network.outages)
    broken = (type(fault).__name__ for fault in network.breakages)
    return next(chain(losses, cuts, broken), None)


def _unsupported_loss(loss: Loss) -> str | None:
    if loss.model == "burst":
        return "the switch loses packets independently or by IP ID; choose another model"
    if loss.from_ns or loss.until_ns is not None:
        return "the switch loses packets from beginning to end; leave from and until out"
    return None


def faulty_ports(cell: Cell, ports: Mapping[str, PortSettings]) -> dict[str, PortSettings]:
    """Settings by port, with the losses of their links.

    Deviation: what a host sends is lost only behind the first switch, for a host's own egress is not the
    switch's; losses of a host's link strike what comes to it.
    """
    faulty = dict(ports)
    for link in cell.network.links:
        for loss in link.losses:
            for name in _here(link.ports, ports):
                faulty[name] = _losing(loss, faulty[name])
    return faulty


def outages(cell: Cell, ports: Collection[str]) -> list[tuple[list[str], OutageAsked]]:
    """When links carry nothing, each with which of these ports, egress ports of switches, stand on it."""
    return [(_here(outage.ports, ports), outage) for outage in cell.network.outages]


def _here(directions: Collection[str], ports: Collection[str]) -> list[str]:
    """Those directions of a link that begin at one of these ports."""
    return [name for name in directions if name in ports]


def _losing(loss: Loss, port: PortSettings) -> PortSettings:
    if loss.mean_probability == 0:
        return port
    if loss.model == "identification":
        return replace(port, lost_ip_id_mask=round(1 / loss.mean_probability) - 1)
    return replace(port, loss_probability=loss.mean_probability)
