"""Activity of flows: their spans, and the levels between arrivals and departures."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.transfers import Transfers

# A flow whose transfers fill this fraction of its span always has work: the application may pause shortly.
BUSY_FRACTION_MIN = 0.9

Spans = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Level:
    """A span of time without arrivals and departures, and the flows that have work in it."""

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
    """Return the levels in order of time; changes of several flows at one instant make one edge."""
    edges = sorted({edge for span in spans.values() for edge in span})
    levels = []
    for start, end in pairwise(edges):
        active = tuple(flow for flow, (first, last) in spans.items() if first <= start and end <= last)
        if active:
            levels.append(Level(start, end, active))
    return levels


def delivered_between(
    rows: pd.DataFrame, flow_numbers: NDArray[np.int64], flows: int, edges_ns: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the payload (bytes) of each flow (rows) between neighbouring edges (columns).

    `flow_numbers` has the flow of each row of the `throughput` table. A row whose interval reaches over an
    edge counts on each side by the share of its time there.
    """
    ends_ns, lengths_ns = rows["t_ns"].to_numpy(), rows["interval_ns"].to_numpy()
    starts_ns = ends_ns - lengths_ns
    first = np.searchsorted(edges_ns, starts_ns, side="right") - 1
    counts = np.searchsorted(edges_ns, ends_ns, side="left") - first
    row = np.repeat(np.arange(len(rows)), counts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts - first, counts)
    inside = (place >= 0) & (place < len(edges_ns) - 1)
    row, place = row[inside], place[inside]
    within_ns = np.minimum(ends_ns[row], edges_ns[place + 1]) - np.maximum(starts_ns[row], edges_ns[place])
    delivered = np.zeros((flows, len(edges_ns) - 1))
    payload_bytes = rows["delivered_bytes"].to_numpy()[row] * (within_ns / lengths_ns[row])
    np.add.at(delivered, (flow_numbers[row], place), payload_bytes)
    return delivered
