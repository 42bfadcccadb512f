"""What faults leave behind in the table of events."""

from harness.plan.cells import Cell
from workloads.faults import Fault, Flooding, LinkCut, Loss, Misrouting, PauseStorm, SlowReceiver


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
    if isinstance(fault, PauseStorm):
        return [(fault.at_ns, "pause_storm_begins"), (fault.at_ns + fault.duration_ns, "pause_storm_ends")]
    if isinstance(fault, SlowReceiver):
        end = [] if fault.duration_ns is None else [(fault.at_ns + fault.duration_ns, "slow_receiver_ends")]
        return [(fault.at_ns, "slow_receiver_begins"), *end]
    if isinstance(fault, Misrouting | Flooding):
        return [(0, fault.kind)]
    return []
