"""What faults leave behind in the table of events."""

from rogue.harness.cell.cell import Cell


def fault_events(cell: Cell, until_ns: int) -> list[tuple[str, int, str, str]]:
    """Rows of the table `events` for faults that have struck before the end of the run."""
    return [
        ("", t_ns, event, fault.target)
        for fault in cell.faults
        for t_ns, event in fault.changes()
        if t_ns <= until_ns
    ]
