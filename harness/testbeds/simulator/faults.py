"""Carry out losses, outages and other faults of a cell in the simulator."""

from collections.abc import Iterable

from rogue import simulator
from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator.features import cell_transports, flow_control
from rogue.simulator import Simulation, unsprayable
from rogue.workloads.faults import ForwardingFault, Loss


def unsupported_fault(cell: Cell) -> str | None:
    """Return why the simulator cannot carry out a fault; None if it can."""
    pausing = [fault.target for fault in cell.network.breakages if fault.is_pausing]
    if len(set(pausing)) < len(pausing):
        return "the simulator's NICs pause their switch for one reason each; take a fault away"
    if pausing and flow_control(cell) is None:
        return f"{pausing[0]} pauses its switch, which obeys only with +pfc; add it, or take the fault away"
    if any(len(_losing(losses)) > 1 for losses in cell.network.losses.values()):
        return "the simulator's links lose packets in one way each; take a loss away"
    return _unsupported_rerouting(cell)


def _unsupported_rerouting(cell: Cell) -> str | None:
    """Return why links cannot be left out for a while; None if they can, or need not."""
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


def link_loss(losses: Iterable[Loss]) -> simulator.Loss | None:
    """Return how a link loses packets in each direction; None if it loses none."""
    return next(map(_engine_loss, _losing(losses)), None)


def _losing(losses: Iterable[Loss]) -> list[Loss]:
    return [loss for loss in losses if loss.mean_probability > 0]


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
    """Schedule outages, and faults of hosts, after everything is connected."""
    for outage in cell.network.outages:
        simulation.cut_link(
            outage.a,
            outage.b,
            start_ns=outage.at_ns,
            duration_ns=outage.duration_ns,
            reroute_after_ns=outage.reroute_after_ns,
            one_way=outage.one_way,
        )
    for fault in cell.network.breakages:
        if not isinstance(fault, ForwardingFault):
            fault.strike(simulation)


def misroute(cell: Cell, simulation: Simulation) -> None:
    """Let switches forward otherwise than by shortest paths, before anything is connected."""
    for fault in cell.network.breakages:
        if isinstance(fault, ForwardingFault):
            fault.strike(simulation)


def is_misrouted(cell: Cell) -> bool:
    """True if a switch does not forward by shortest paths."""
    return any(isinstance(fault, ForwardingFault) for fault in cell.network.breakages)
