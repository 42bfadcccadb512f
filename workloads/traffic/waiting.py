"""Transfers that wait for others, seen as a whole: whether all can start, and when at the earliest."""

from collections.abc import Callable, Iterator, Sequence

from rogue.workloads.traffic.workload import Flow, Predecessor

Moment = tuple[int, bool, int]
"""A transfer that follows, whether it follows the start, and the pause between."""


def waits(flows: Sequence[Flow]) -> bool:
    """Whether any transfer waits for another."""
    return any(arrival.after for flow in flows for arrival in flow.arrivals)


def earliest_end_ns(flows: Sequence[Flow], took_ns: Callable[[Flow, int], int]) -> int | None:
    """When the last can have arrived if each takes so long (by flow and size); None if there is a circle."""
    return WaitingOrder(flows).earliest_end_ns(took_ns)


class WaitingOrder:
    """Transfers of some flows in an order in which each comes behind all that it waits for.

    They are numbered flow by flow, for there may be millions. Transfers of a flow start in their order.
    """

    def __init__(self, flows: Sequence[Flow]) -> None:
        self._flows = flows
        self._owners = [flow for flow in flows for _ in flow.arrivals]
        self._arrivals = [arrival for flow in flows for arrival in flow.arrivals]
        self._following: list[list[Moment] | None] = [None] * len(self._arrivals)
        self._order = self._sorted(self._link())

    def _link(self) -> list[int]:
        """Note what follows each transfer; return how many each one waits for."""
        places, count = {}, 0
        for flow in self._flows:
            places[flow.ends] = range(count, count + len(flow.arrivals))
            count += len(flow.arrivals)
        missing, following = [0] * count, self._following
        for own in places.values():
            for transfer in own:
                after = self._arrivals[transfer].after
                missing[transfer] = len(after) + (transfer > own.start)
                for ends, number, moment, pause_ns in after:
                    theirs = places.get(ends)
                    if theirs is None or not 0 <= number < len(theirs):
                        continue  # for ever
                    cause = theirs.start + number
                    found = following[cause]
                    if found is None:
                        found = following[cause] = []
                    found.append((transfer, moment == "start", pause_ns))
        return missing

    def _sorted(self, missing: list[int]) -> list[int]:
        """Return the transfers that can start, each behind its causes."""
        order = [transfer for transfer, count in enumerate(missing) if not count]
        last = len(missing) - 1
        for transfer in order:  # which grows meanwhile
            followers = [follower for follower, _, _ in self._following[transfer] or ()]
            if transfer < last and self._owners[transfer + 1] is self._owners[transfer]:
                followers.append(transfer + 1)
            for follower in followers:
                missing[follower] -= 1
                if not missing[follower]:
                    order.append(follower)
        return order

    @property
    def has_circle(self) -> bool:
        """Whether some wait in a circle, or for what there is not."""
        return len(self._order) < len(self._arrivals)

    def earliest_end_ns(self, took_ns: Callable[[Flow, int], int]) -> int | None:
        """When the last can have arrived if each takes so long (by flow and size); None if there is a circle.

        Nothing else keeps transfers apart: a bound from below.
        """
        if self.has_circle:
            return None
        starts_ns = [arrival.start_ns for arrival in self._arrivals]
        last_ns, last = 0, len(starts_ns) - 1
        for transfer in self._order:
            flow, start_ns = self._owners[transfer], starts_ns[transfer]
            end_ns = start_ns + took_ns(flow, self._arrivals[transfer].size_bytes)
            last_ns = max(last_ns, end_ns)
            for after, is_start, pause_ns in self._following[transfer] or ():
                then_ns = (start_ns if is_start else end_ns) + pause_ns
                starts_ns[after] = max(starts_ns[after], then_ns)
            if transfer < last and self._owners[transfer + 1] is flow:
                starts_ns[transfer + 1] = max(starts_ns[transfer + 1], start_ns)
        return last_ns


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
