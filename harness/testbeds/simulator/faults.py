"""Faults of a cell, as the simulator has them."""

from typing import Final

from harness.plan.cells import Cell
from simulator import Simulation
from workloads.faults import Fault, LinkCut, Loss
from workloads.topologies import Link

LOSS_MODELS: Final = ("independent",)


def unsupported_fault(cell: Cell) -> str | None:
    """Why the simulator cannot do what is asked to go wrong; None if it can."""
    losses = [fault for fault in cell.experiment.faults if isinstance(fault, Loss)]
    for fault in cell.experiment.faults:
        if reason := _unsupported(fault):
            return reason
    if len({fault.link(cell.experiment.topology) for fault in losses}) < len(losses):
        return "the simulator's links lose packets in one way each; take a loss away"
    return None


def _unsupported(fault: Fault) -> str | None:
    if not isinstance(fault, Loss):
        return None if isinstance(fault, LinkCut) else f"the simulator has no {type(fault).__name__}"
    if fault.model not in LOSS_MODELS:
        return f"the simulator has no {fault.model} loss; it has {', '.join(LOSS_MODELS)}"
    if fault.from_ns or fault.until_ns is not None:
        return "the simulator's links lose packets from beginning to end; leave from and until out"
    return None


def loss_probability(cell: Cell, link: Link) -> float:
    """Share of the packets that a link loses in each direction."""
    for fault in cell.experiment.faults:
        if isinstance(fault, Loss) and fault.link(cell.experiment.topology) == link:
            return fault.mean_probability
    return 0.0


def arrange_cuts(cell: Cell, simulation: Simulation) -> None:
    """Let links go down when their time has come."""
    for fault in cell.experiment.faults:
        link = fault.link(cell.experiment.topology)
        if isinstance(fault, LinkCut) and link is not None:
            simulation.cut_link(link.a, link.b, start_ns=fault.at_ns, duration_ns=fault.duration_ns)


def fault_events(cell: Cell, until_ns: int) -> list[tuple[str, int, str, str]]:
    """Rows of the table `events` for faults that have struck before the end of the run."""
    rows = []
    for fault in cell.experiment.faults:
        for t_ns, event in _changes(fault):
            if t_ns <= until_ns:
                rows.append(("", t_ns, event, fault.target))
    return rows


def _changes(fault: Fault) -> list[tuple[int, str]]:
    if isinstance(fault, LinkCut):
        return [(fault.at_ns, "link_cut"), (fault.at_ns + fault.duration_ns, "link_restored")]
    if isinstance(fault, Loss) and fault.mean_probability > 0:
        end = [] if fault.until_ns is None else [(fault.until_ns, "loss_ends")]
        return [(fault.from_ns, "loss_begins"), *end]
    return []
