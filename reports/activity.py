"""When which flow has work: the spans of the flows, and the levels between arrivals and departures."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from workloads.records import TransferStatus

# A flow whose transfers fill this fraction of its span always has work; short gaps are the application's.
BUSY_FRACTION_MIN = 0.9

Spans = Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Level:
    """A time in which no flow arrives or departs, and the flows that have work in it."""

    start_ns: int
    end_ns: int
    flow_ids: tuple[str, ...]


def spans_of(flows: pd.DataFrame, end_ns: int) -> dict[str, tuple[int, int]]:
    """Return first start and last end (ns) of each flow.

    A flow whose last transfer failed or never ended counts as one that still has work at `end_ns`: its
    silence is a failure and must not look like a departure.
    """
    ordered = flows.sort_values("start_ns", kind="stable")
    grouped = ordered.groupby(ordered["flow_id"].astype(str), sort=False)
    starts, last = grouped["start_ns"].min(), grouped.tail(1)
    ends = {
        str(flow_id): int(end) if status == TransferStatus.OK and pd.notna(end) else end_ns
        for flow_id, status, end in zip(last["flow_id"], last["status"], last["end_ns"], strict=True)
    }
    return {str(flow_id): (int(start), ends[str(flow_id)]) for flow_id, start in starts.items()}


def always_busy(flows: pd.DataFrame, spans: Spans) -> bool:
    """Return whether every flow's transfers fill its span, back to back or nearly so."""
    failed = flows["status"] != TransferStatus.OK
    span_ends = flows["flow_id"].astype(str).map({flow_id: end for flow_id, (_, end) in spans.items()})
    ends = flows["end_ns"].mask(failed, span_ends).fillna(span_ends)
    busy_ns = (ends - flows["start_ns"]).groupby(flows["flow_id"].astype(str)).sum()
    return all(
        busy_ns[flow_id] >= BUSY_FRACTION_MIN * (end - start) for flow_id, (start, end) in spans.items()
    )


def levels_of(spans: Spans) -> list[Level]:
    """Return the levels in order of time; instants at which several flows change at once make one edge."""
    edges = sorted({edge for span in spans.values() for edge in span})
    levels = []
    for start, end in pairwise(edges):
        active = tuple(flow for flow, (first, last) in spans.items() if first <= start and end <= last)
        if active:
            levels.append(Level(start, end, active))
    return levels
