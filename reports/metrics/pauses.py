"""What priority flow control kept silent: ports that were told to pause, for how long."""

from collections.abc import Sequence

import pandas as pd

from rogue.reports.cells.view import CellView
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import Unit


def paused_sum_ns(view: CellView, _interval_ns: int) -> float | None:
    """Return the time that ports were paused, all ports and priorities added up."""
    pauses = _pauses(view)
    return None if pauses is None else float(pauses["duration_ns"].sum())


def paused_union_ns(view: CellView, _interval_ns: int) -> float | None:
    """Return the time during which at least one port was paused."""
    pauses = _pauses(view)
    if pauses is None:
        return None
    return float(union_ns(pauses["start_ns"].tolist(), pauses["duration_ns"].tolist()))


def paused_ports(view: CellView, _interval_ns: int) -> float | None:
    """Return how many ports were paused at least once."""
    pauses = _pauses(view)
    return None if pauses is None else float(pauses["port"].nunique())


def pauses(view: CellView, _interval_ns: int) -> float | None:
    """Return how often a port was paused."""
    found = _pauses(view)
    return None if found is None else float(len(found))


def _pauses(view: CellView) -> pd.DataFrame | None:
    """The table even if it is empty: no pause at all is a result."""
    return view.run.table(view.entry.id, "pauses")


def union_ns(starts_ns: Sequence[int], durations_ns: Sequence[int]) -> int:
    """Return for how long at least one of some intervals lasted."""
    total_ns = 0
    covered_until_ns: int | None = None
    for start_ns, duration_ns in sorted(zip(starts_ns, durations_ns, strict=True)):
        end_ns = start_ns + duration_ns
        if covered_until_ns is None or start_ns > covered_until_ns:
            total_ns += duration_ns
        else:
            total_ns += max(0, end_ns - covered_until_ns)
        covered_until_ns = end_ns if covered_until_ns is None else max(covered_until_ns, end_ns)
    return total_ns


METRICS = (
    Metric(
        "paused_sum_ns",
        "Paused, sum",
        Unit.TIME,
        "Time that ports were paused by priority flow control, all ports and priorities added up.",
        ("flows",),
        paused_sum_ns,
    ),
    Metric(
        "paused_union_ns",
        "Paused, any port",
        Unit.TIME,
        "Time during which at least one port was paused.",
        ("flows",),
        paused_union_ns,
    ),
    Metric(
        "paused_ports",
        "Ports paused",
        Unit.COUNT,
        "Ports that were paused at least once.",
        ("flows",),
        paused_ports,
    ),
    Metric(
        "pauses",
        "Pauses",
        Unit.COUNT,
        "How often priority flow control paused a port, all ports and priorities added up.",
        ("flows",),
        pauses,
    ),
)
