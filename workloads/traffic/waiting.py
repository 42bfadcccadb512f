"""Transfers that wait for others, seen as a whole: whether all can start, and when at the earliest."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence

from rogue.workloads.traffic.workload import Flow, Predecessor

Transfer = tuple[str, int]
"""Ends of a flow, and number of a transfer there, from 0."""


def waits(flows: Sequence[Flow]) -> bool:
    """Whether any transfer waits for another."""
    return any(arrival.after for flow in flows for arrival in flow.arrivals)


def earliest_end_ns(flows: Sequence[Flow], took_ns: Callable[[Flow, int], int]) -> int | None:
    """When the last can have arrived if each takes so long (by flow and size); None if some wait in a circle.

    Transfers of a flow start in their order, and nothing else keeps them apart: a bound from below.
    """
    by_ends = {flow.ends: flow for flow in flows}
    missing, following = _links(flows)
    starts_ns: dict[Transfer, int] = {}
    free = deque(transfer for transfer, count in missing.items() if not count)
    last_ns = 0
    while free:
        transfer = ends, number = free.popleft()
        flow = by_ends[ends]
        arrival = flow.arrivals[number]
        start_ns = max(arrival.start_ns, starts_ns.get(transfer, 0))
        end_ns = start_ns + took_ns(flow, arrival.size_bytes)
        last_ns = max(last_ns, end_ns)
        for after, moment, pause_ns in following[transfer]:
            then_ns = (start_ns if moment == "start" else end_ns) + pause_ns
            starts_ns[after] = max(starts_ns.get(after, 0), then_ns)
            missing[after] -= 1
            if not missing[after]:
                free.append(after)
    return None if any(missing.values()) else last_ns


def _links(
    flows: Sequence[Flow],
) -> tuple[dict[Transfer, int], dict[Transfer, list[tuple[Transfer, str, int]]]]:
    """How many transfers each one waits for, and the transfers that follow each moment, with their pauses."""
    missing: dict[Transfer, int] = {}
    following: dict[Transfer, list[tuple[Transfer, str, int]]] = defaultdict(list)
    for flow in flows:
        for number, arrival in enumerate(flow.arrivals):
            transfer = flow.ends, number
            missing[transfer] = len(arrival.after)
            for each in arrival.after:
                following[each.flow, each.number].append((transfer, each.moment, each.pause_ns))
            if number:
                missing[transfer] += 1
                following[flow.ends, number - 1].append((transfer, "start", 0))
    return missing, following


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
