"""Losses, outages and other faults of a cell, as the simulator has them: one function per other fault."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch

from rogue import simulator
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.network import LinkSpec
from rogue.harness.testbeds.simulator.features import cell_transports, flow_control
from rogue.simulator import Simulation, unsprayable
from rogue.workloads.faults import Fault, Flooding, Loss, Misrouting, PauseStorm, SlowReceiver

Step = Callable[[Simulation], None]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fault does to a simulation; each part has its own time, and None is no part."""

    forward: Step | None = None
    """Tells a switch to forward otherwise than by shortest paths, before anything is connected."""
    arrange: Step | None = None
    """Schedules the faults of a cell, after everything is connected."""
    is_pausing: bool = False
    """Whether a host pauses its switch, which must obey; a host has one reason for that at most."""
    unsupported: str | None = None
    """Why the simulator cannot do it; None if it can."""


@singledispatch
def effect(fault: Fault) -> Effect:
    """What a fault of a host or a switch does; those without a function of their own are refused by name."""
    return Effect(unsupported=f"the simulator has no {type(fault).__name__}")


@effect.register
def _(fault: PauseStorm) -> Effect:
    def arrange(simulation: Simulation) -> None:
        simulation.pause_storm(
            fault.target,
            start_ns=fault.at_ns,
            duration_ns=fault.duration_ns,
            watchdog_ns=fault.nic_watchdog_ns,
        )

    return Effect(arrange=arrange, is_pausing=True)


@effect.register
def _(fault: SlowReceiver) -> Effect:
    def arrange(simulation: Simulation) -> None:
        simulation.receive_slowly(
            fault.target,
            rate_bps=fault.rate_bps,
            start_ns=fault.at_ns,
            duration_ns=fault.duration_ns,
            buffer_bytes=fault.buffer_bytes,
            xoff_bytes=fault.xoff_bytes,
            xon_bytes=fault.xon_bytes,
        )

    return Effect(arrange=arrange, is_pausing=True)


@effect.register
def _(fault: Misrouting) -> Effect:
    switch, _, neighbour = fault.target.partition("-")
    return Effect(forward=lambda simulation: simulation.forward(switch, fault.destination, neighbour))


@effect.register
def _(fault: Flooding) -> Effect:
    return Effect(forward=lambda simulation: simulation.flood(fault.target, fault.destination))


def _effects(cell: Cell) -> Iterator[tuple[Fault, Effect]]:
    for fault in cell.network.breakages:
        yield fault, effect(fault)


def unsupported_fault(cell: Cell) -> str | None:
    """The reason why the simulator cannot carry out a fault; None if it can."""
    effects = list(_effects(cell))
    for _, each in effects:
        if each.unsupported is not None:
            return each.unsupported
    pausing = [fault.target for fault, each in effects if each.is_pausing]
    if len(set(pausing)) < len(pausing):
        return "the simulator's NICs pause their switch for one reason each; take a fault away"
    if pausing and flow_control(cell) is None:
        return f"{pausing[0]} pauses its switch, which obeys only with +pfc; add it, or take the fault away"
    if any(len(_losing(link)) > 1 for link in cell.network.links):
        return "the simulator's links lose packets in one way each; take a loss away"
    return _unsupported_rerouting(cell)


def _unsupported_rerouting(cell: Cell) -> str | None:
    """Why links cannot be left out for a while; None if they can, or nobody asks for it."""
    if not any(outage.reroute_after_ns is not None for outage in cell.network.outages):
        return None
    if is_misrouted(cell):
        return (
            "switches that forward otherwise than by shortest paths reroute nothing: leave reroute_after out"
        )
    for control in (feature for name in cell_transports(cell) for feature in name.features):
        if reason := unsprayable(control):
            return f"reroute_after changes the ways of {control}, {reason}: leave one of them out"
    return None


def link_loss(link: LinkSpec) -> simulator.Loss | None:
    """How a link loses packets in each direction; None if it loses none."""
    return next(map(_engine_loss, _losing(link)), None)


def _losing(link: LinkSpec) -> list[Loss]:
    return [loss for loss in link.losses if loss.mean_probability > 0]


def _engine_loss(loss: Loss) -> simulator.Loss:
    if loss.model == "burst":
        return simulator.BurstLoss(
            to_bad_probability=loss.burst_begins_probability,
            to_good_probability=1 / loss.burst_packets,
            from_ns=loss.from_ns,
            until_ns=loss.until_ns,
        )
    if loss.model == "identification":
        mask = round(1 / loss.mean_probability) - 1
        return simulator.IpIdLoss(mask, from_ns=loss.from_ns, until_ns=loss.until_ns)
    return simulator.IndependentLoss(loss.mean_probability, from_ns=loss.from_ns, until_ns=loss.until_ns)


def arrange_faults(cell: Cell, simulation: Simulation) -> None:
    """Schedule outages and faults."""
    for outage in cell.network.outages:
        simulation.cut_link(
            outage.a,
            outage.b,
            start_ns=outage.at_ns,
            duration_ns=outage.duration_ns,
            reroute_after_ns=outage.reroute_after_ns,
            one_way=outage.one_way,
        )
    for _, each in _effects(cell):
        if each.arrange is not None:
            each.arrange(simulation)


def misroute(cell: Cell, simulation: Simulation) -> None:
    """Tell switches to forward otherwise than by shortest paths, before anything is connected."""
    for _, each in _effects(cell):
        if each.forward is not None:
            each.forward(simulation)


def is_misrouted(cell: Cell) -> bool:
    """Whether a switch forwards otherwise than by shortest paths."""
    return any(each.forward is not None for _, each in _effects(cell))
