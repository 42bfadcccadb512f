"""The max-min fair rates of flows over links of given capacity: what a perfectly fair network would give."""

from collections.abc import Hashable, Mapping, Sequence


def max_min_bps(capacity_bps: Mapping[Hashable, float], paths: Sequence[Sequence[Hashable]]) -> list[float]:
    """Raise all rates together; whoever crosses a link that is full stays where it is.

    Source: Bertsekas and Gallager, "Data networks", 1992, section 6.5.2 (progressive filling).
    """
    free, rates = dict(capacity_bps), [0.0] * len(paths)
    growing = set(range(len(paths)))
    while growing:
        crossing = {link: sum(link in paths[flow] for flow in growing) for link in free}
        step = min(free[link] / count for link, count in crossing.items() if count)
        for link, count in crossing.items():
            free[link] -= step * count
        full = {link for link, count in crossing.items() if count and free[link] < 1e-9 * capacity_bps[link]}
        for flow in growing:
            rates[flow] += step
        growing = {flow for flow in growing if not full & set(paths[flow])}
    return rates
