"""Transfers that wait for others, such as the steps of a collective operation.

Source: bus bandwidth as in nccl-tests, doc/PERFORMANCE.md: size over time, times the bytes that an operation
of n ranks moves at least per rank and byte, so that it can be compared with the rate of a link.
"""

import math
from typing import Final

import numpy as np

from rogue.reports.cells.transfers import Floats, Waits, waits_of
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.metrics.completion import COMPLETED
from rogue.reports.metrics.metric import Metric, metric
from rogue.reports.quantities import Unit

PROGRAM = "program_ns"
"""The fact of a cell whose traffic is a program with computing."""


@once_per_cell
def waits(view: CellView) -> Waits | None:
    """Return the transfers that waited in a cell; None if there are none."""
    flows = view.table("flows")
    return None if flows is None else waits_of(flows)


def _covered_ns(start_ns: Floats, end_ns: Floats) -> float:
    """Return the time in which at least one was under way; transfers that wait for a start may overlap."""
    order = np.argsort(start_ns)
    start_ns, end_ns = start_ns[order], end_ns[order]
    so_far_ns = np.concatenate([start_ns[:1], np.maximum.accumulate(end_ns)[:-1]])
    return float(np.maximum(0, end_ns - np.maximum(start_ns, so_far_ns)).sum())


METRICS: Final[list[Metric]] = []


@metric(METRICS, "whole_ns", "The whole", Unit.TIME, lost=COMPLETED)
def whole_ns(view: CellView, _interval_ns: int) -> float | None:
    """From the start of the first transfer to the arrival of the last at its receiver, of a program also to
    the end of its last computing; infinite if one did not arrive.
    """
    if PROGRAM in view.entry.facts:
        program_ns = view.entry.number(PROGRAM)
        return math.inf if program_ns is None else program_ns
    found = waits(view)
    if found is None:
        return None
    return float(found.arrived_ns.max() - found.first_ns) if found.is_complete else math.inf


@metric(METRICS, "bus_bandwidth_bps", "Bus bandwidth", Unit.RATE, better="higher")
def bus_bandwidth_bps(view: CellView, interval_ns: int) -> float | None:
    """As in nccl-tests: what a rank moves at best (2(n − 1)/n of the size in an all-reduce, (n − 1)/n in the
    others) over the time of the whole.
    """
    taken_ns, bus_bytes = whole_ns(view, interval_ns), view.entry.number("bus_bytes")
    return None if not taken_ns or not bus_bytes else bus_bytes * 8e9 / taken_ns


@metric(METRICS, "bus_share", "Bus bandwidth / ideal", Unit.PERCENT, better="higher")
def bus_share(view: CellView, interval_ns: int) -> float | None:
    """Bus bandwidth over the payload rate of the slowest rank's link."""
    bandwidth_bps, ideal_bps = bus_bandwidth_bps(view, interval_ns), view.entry.number("rank_goodput_bps")
    return None if bandwidth_bps is None or not ideal_bps else bandwidth_bps / ideal_bps


@metric(METRICS, "straggler_ns", "Last host after the median", Unit.TIME)
def straggler_ns(view: CellView, interval_ns: int) -> float | None:
    """How much later than the median host the last one had all that it was sent."""
    found = waits(view)
    if found is None or math.isinf(whole_ns(view, interval_ns) or math.inf):
        return None
    last_ns = list(found.last_of_hosts().values())
    return float(max(last_ns) - np.median(last_ns))


@metric(METRICS, "critical_transfers", "Critical path, transfers", Unit.COUNT, better="near")
def critical_transfers(view: CellView, _interval_ns: int) -> float | None:
    """Transfers in the chain that ended last: the last to arrive, the last one it waited for, and so on."""
    found = waits(view)
    return None if found is None else len(found.critical)


@metric(METRICS, "critical_moving_share", "Critical path, moving", Unit.PERCENT, better="near")
def critical_moving_share(view: CellView, interval_ns: int) -> float | None:
    """Part of the whole in which a transfer of the critical path was under way; the rest is computing, or
    waiting for the connection.
    """
    found, taken_ns = waits(view), whole_ns(view, interval_ns)
    if found is None or not taken_ns or math.isinf(taken_ns):
        return None
    path = list(found.critical)
    return _covered_ns(found.start_ns[path], found.arrived_ns[path]) / taken_ns
