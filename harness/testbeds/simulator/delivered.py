"""Payload that each flow delivered, interval by interval, each byte once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rogue.agent.drivers.simulated import Carriage
from rogue.harness.testbeds.simulator.flows import RunningFlow

Integers = NDArray[np.int64]


class Delivered(NamedTuple):
    """One row per flow and interval, by flow and then by time."""

    flow: Integers
    """Its number in the network."""
    ends_ns: Integers
    interval_ns: Integers
    delivered_bytes: Integers


def delivered_by_flows(table: Mapping[str, Integers], flows: Sequence[RunningFlow]) -> Delivered:
    """Add up the queue pairs of each flow; `table` is the engine's, by queue pair and interval.

    What a lost queue pair had delivered, and its shadow delivers again, counts once.
    """
    owned = sorted((qp_num, number) for number, flow in enumerate(flows) for qp_num in flow.qp_nums)
    qp_nums, owners = np.array(owned, np.int64).T
    place = np.minimum(np.searchsorted(qp_nums, table["qp_num"]), len(qp_nums) - 1)
    rows = np.flatnonzero(qp_nums[place] == table["qp_num"])
    flow, ends_ns = owners[place[rows]], table["t_ns"][rows]
    order = np.lexsort((ends_ns, flow))
    rows, flow, ends_ns = rows[order], flow[order], ends_ns[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (flow[1:] != flow[:-1]) | (ends_ns[1:] != ends_ns[:-1])
    first = np.flatnonzero(is_first)
    delivered_bytes = np.add.reduceat(table["delivered_bytes"][rows], first)
    result = Delivered(flow[first], ends_ns[first], table["interval_ns"][rows[first]], delivered_bytes)
    for number in [number for number, each in enumerate(flows) if each.carriages]:
        own = slice(*np.searchsorted(flow, (number, number + 1)))
        part = slice(*np.searchsorted(result.flow, (number, number + 1)))
        columns = {name: table[name][rows[own]] for name in ("qp_num", "t_ns", "delivered_bytes")}
        delivered_bytes[part] = new_bytes(columns, flows[number].carriages, result.ends_ns[part])
    return result


def new_bytes(table: Mapping[str, Integers], carriages: Sequence[Carriage], ends_ns: Integers) -> Integers:
    """Bytes that no queue pair of a flow had delivered before, per interval.

    A carriage brings the flow's bytes in order, from the first one on that was not completed before it. So
    the flow has, at any instant, what that one has brought that got furthest.
    """
    furthest = np.zeros(len(ends_ns), np.int64)
    for number, carriage in enumerate(carriages):
        own = table["qp_num"] == carriage.qp_num
        place = np.searchsorted(table["t_ns"][own], ends_ns, side="right")
        totals = np.append(0, np.cumsum(table["delivered_bytes"][own]))[place]
        later = (each.delivered_bytes for each in carriages[number + 1 :] if each.qp_num == carriage.qp_num)
        brought = np.minimum(totals, next(later, np.iinfo(np.int64).max)) - carriage.delivered_bytes
        has_begun = brought > 0
        furthest[has_begun] = np.maximum(furthest, carriage.completed_bytes + brought)[has_begun]
    return np.diff(np.maximum.accumulate(furthest), prepend=0)
