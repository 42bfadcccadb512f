"""When which flow has work: the spans of the flows, and the levels between arrivals and departures."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rogue.reports.cells.transfers import Transfers

# A flow whose transfers fill this fraction of its span always has work; short gaps are the application's.
BUSY_FRACTION_MIN = 0.9

Spans = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Level:
    """A time in which no flow arrives or departs, and the flows that have work in it."""

    start_ns: int
    end_ns: int
    flow_ids: tuple[str, ...]


def spans_of(transfers: Transfers, end_ns: int) -> dict[str, tuple[int, int]]:
    """Return first start and last end (ns) of each flow, in the order of the flows.

    A flow whose last transfer failed or never ended counts as one that still has work at `end_ns`: its
    silence is a failure and must not look like a departure.
    """
    first, last = transfers.ends_of_flows()
    ended = transfers.is_ok[last] & ~np.isnan(transfers.end_ns[last])
    ends_ns = np.where(ended, transfers.end_ns[last], end_ns).astype(np.int64)
    spans = zip(transfers.start_ns[first].tolist(), ends_ns.tolist(), strict=True)
    return dict(zip(transfers.flow_ids, spans, strict=True))


def always_busy(transfers: Transfers, spans: Spans) -> bool:
    """Return whether every flow's transfers fill its span, back to back or nearly so."""
    starts_ns, last_ns = np.array([spans[each] for each in transfers.flow_ids], dtype=np.float64).T
    is_open = ~transfers.is_ok | np.isnan(transfers.end_ns)
    ends_ns = np.where(is_open, last_ns[transfers.flow], transfers.end_ns)
    busy_ns = np.bincount(transfers.flow, ends_ns - transfers.start_ns).astype(np.float64, copy=False)
    return bool((busy_ns >= BUSY_FRACTION_MIN * (last_ns - starts_ns)).all())


def levels_of(spans: Spans) -> list[Level]:
    """Return the levels in order of time; instants at which several flows change at once make one edge."""
    edges = sorted({edge for span in spans.values() for edge in span})
    levels = []
    for start, end in pairwise(edges):
        active = tuple(flow for flow, (first, last) in spans.items() if first <= start and end <= last)
        if active:
            levels.append(Level(start, end, active))
    return levels
