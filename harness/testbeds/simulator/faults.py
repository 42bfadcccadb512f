"""Faults of a cell, as the simulator has them."""

from typing import Final

import simulator
from harness.cell.cell import Cell
from harness.testbeds.simulator.features import flow_control
from simulator import Simulation
from workloads.faults import FAULTS, Flooding, LinkCut, Loss, Misrouting, PauseStorm, SlowReceiver
from workloads.topologies import Link

PAUSING: Final = (PauseStorm, SlowReceiver)


def unsupported_fault(cell: Cell) -> str | None:
    """Why the simulator cannot do what is asked to go wrong; None if it can."""
    losses = [fault for fault in cell.experiment.faults if isinstance(fault, Loss)]
    for fault in cell.experiment.faults:
        if not isinstance(fault, tuple(FAULTS.values())):
            return f"the simulator has no {type(fault).__name__}"
    pausing = [fault.target for fault in cell.experiment.faults if isinstance(fault, PAUSING)]
    if len(set(pausing)) < len(pausing):
        return "the simulator's NICs pause their switch for one reason each; take a fault away"
    if pausing and flow_control(cell) is None:
        return f"{pausing[0]} pauses its switch, which obeys only with +pfc; add it, or take the fault away"
    if len({fault.link(cell.topology) for fault in losses}) < len(losses):
        return "the simulator's links lose packets in one way each; take a loss away"
    return None


def link_loss(cell: Cell, link: Link) -> simulator.Loss | None:
    """How a link loses packets in each direction; None if it loses none."""
    for fault in cell.experiment.faults:
        if isinstance(fault, Loss) and fault.link(cell.topology) == link:
            return _engine_loss(fault) if fault.mean_probability > 0 else None
    return None


def _engine_loss(fault: Loss) -> simulator.Loss:
    if fault.model == "burst":
        return simulator.BurstLoss(
            to_bad_probability=fault.burst_begins_probability,
            to_good_probability=1 / fault.burst_packets,
            from_ns=fault.from_ns,
            until_ns=fault.until_ns,
        )
    if fault.model == "identification":
        mask = round(1 / fault.mean_probability) - 1
        return simulator.IpIdLoss(mask, from_ns=fault.from_ns, until_ns=fault.until_ns)
    return simulator.IndependentLoss(fault.mean_probability, from_ns=fault.from_ns, until_ns=fault.until_ns)


def arrange_faults(cell: Cell, simulation: Simulation) -> None:
    """Let things break when their time has come."""
    for fault in cell.experiment.faults:
        if isinstance(fault, LinkCut):
            link = fault.link(cell.topology)
            assert link is not None, "an experiment with a fault that strikes no link"
            simulation.cut_link(link.a, link.b, start_ns=fault.at_ns, duration_ns=fault.duration_ns)
        elif isinstance(fault, PauseStorm):
            simulation.pause_storm(
                fault.target,
                start_ns=fault.at_ns,
                duration_ns=fault.duration_ns,
                watchdog_ns=fault.nic_watchdog_ns,
            )
        elif isinstance(fault, SlowReceiver):
            simulation.receive_slowly(
                fault.target,
                rate_bps=fault.rate_bps,
                start_ns=fault.at_ns,
                duration_ns=fault.duration_ns,
                buffer_bytes=fault.buffer_bytes,
                xoff_bytes=fault.xoff_bytes,
                xon_bytes=fault.xon_bytes,
            )


def misroute(cell: Cell, simulation: Simulation) -> None:
    """Tell switches to forward otherwise than by shortest paths, before anything is connected."""
    for fault in cell.experiment.faults:
        if isinstance(fault, Misrouting):
            switch, _, neighbour = fault.target.partition("-")
            simulation.forward(switch, fault.destination, neighbour)
        elif isinstance(fault, Flooding):
            simulation.flood(fault.target, fault.destination)
