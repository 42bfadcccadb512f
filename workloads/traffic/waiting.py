"""Transfers that wait for others, seen as a whole: whether all can start, and when at the earliest."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rogue.workloads.traffic.program import program_of
from rogue.workloads.traffic.waiting_levels import Levels
from rogue.workloads.traffic.waiting_steps import OneByOne
from rogue.workloads.traffic.workload import Flow, Predecessor


def waits(flows: Sequence[Flow]) -> bool:
    """Whether any transfer waits for another."""
    return any(flow.waiting for flow in flows)


def earliest_end_ns(flows: Sequence[Flow], took_ns: Callable[[Flow, int], int]) -> int | None:
    """When the last can have arrived if each takes so long (by flow and size); None if there is a circle."""
    return WaitingOrder(flows).earliest_end_ns(took_ns)


class WaitingOrder:
    """Transfers of some flows in an order in which each comes behind all that it waits for.

    Transfers of a flow start in their order. Of a program in which many can start at once whole levels are
    looked at together; of one in which a few follow each other for long, transfers one by one.
    """

    def __init__(self, flows: Sequence[Flow]) -> None:
        self._flows = flows
        self._program = program_of(flows)
        levels = Levels(self._program)
        self._order = OneByOne(self._program) if levels.are_narrow else levels

    @property
    def has_circle(self) -> bool:
        """Whether some wait in a circle, or for what there is not."""
        return len(self._order) < len(self._program.joins)

    def earliest_end_ns(self, took_ns: Callable[[Flow, int], int]) -> int | None:
        """When the last can have arrived if each takes so long (by flow and size); None if there is a circle.

        Nothing else keeps transfers apart: a bound from below.
        """
        if self.has_circle:
            return None
        return max(0, self._order.last_end_ns(np.array(list(self._took(took_ns)), np.int64)))

    def _took(self, took_ns: Callable[[Flow, int], int]) -> Iterator[int]:
        """How long each transfer takes; of a flow those of one size are alike."""
        for flow in self._flows:
            sizes_bytes = flow.arrived_sizes_bytes
            known = {size_bytes: took_ns(flow, size_bytes) for size_bytes in set(sizes_bytes)}
            yield from map(known.__getitem__, sizes_bytes)


def unknowable(flows: Sequence[Flow]) -> Iterator[tuple[Flow, Predecessor]]:
    """What a transfer waits for although its initiator cannot know of it, or although there is none."""
    by_ends = {flow.ends: flow for flow in flows}
    waiting = ((flow, each) for flow in flows for arrival in flow.arrivals for each in arrival.after)
    for flow, each in waiting:
        before = by_ends.get(each.flow)
        if before is None or not 0 <= each.number < len(before.arrivals):
            yield flow, each
            continue
        knows = before.destination if each.moment == "arrival" else before.source
        if knows != flow.source:
            yield flow, each
