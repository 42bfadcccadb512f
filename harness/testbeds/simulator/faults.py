"""Faults of a cell, as the simulator has them."""

from typing import Final

import simulator
from harness.plan.cells import Cell
from harness.testbeds.fault_events import fault_events
from simulator import Simulation
from workloads.faults import LinkCut, Loss
from workloads.topologies import Link

__all__ = ["arrange_cuts", "fault_events", "link_loss", "unsupported_fault"]

FAULTS: Final = (LinkCut, Loss)


def unsupported_fault(cell: Cell) -> str | None:
    """Why the simulator cannot do what is asked to go wrong; None if it can."""
    losses = [fault for fault in cell.experiment.faults if isinstance(fault, Loss)]
    for fault in cell.experiment.faults:
        if not isinstance(fault, FAULTS):
            return f"the simulator has no {type(fault).__name__}"
    if len({fault.link(cell.experiment.topology) for fault in losses}) < len(losses):
        return "the simulator's links lose packets in one way each; take a loss away"
    return None


def link_loss(cell: Cell, link: Link) -> simulator.Loss | None:
    """How a link loses packets in each direction; None if it loses none."""
    for fault in cell.experiment.faults:
        if isinstance(fault, Loss) and fault.link(cell.experiment.topology) == link:
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
        return simulator.IdentificationLoss(mask, from_ns=fault.from_ns, until_ns=fault.until_ns)
    return simulator.IndependentLoss(fault.mean_probability, from_ns=fault.from_ns, until_ns=fault.until_ns)


def arrange_cuts(cell: Cell, simulation: Simulation) -> None:
    """Let links go down when their time has come."""
    for fault in cell.experiment.faults:
        link = fault.link(cell.experiment.topology)
        if isinstance(fault, LinkCut) and link is not None:
            simulation.cut_link(link.a, link.b, start_ns=fault.at_ns, duration_ns=fault.duration_ns)
