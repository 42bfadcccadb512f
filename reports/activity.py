"""When which flow has work: the spans of the flows, and the levels between arrivals and departures."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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


def ends_of_flows(flows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the first and the last transfer of each flow, both in the order in which the flows start."""
    ordered = flows.iloc[np.argsort(flows["start_ns"].to_numpy(), kind="stable")]
    numbers, _ = pd.factorize(ordered["flow_id"])
    first = np.unique(numbers, return_index=True)[1]
    last = len(numbers) - 1 - np.unique(numbers[::-1], return_index=True)[1]
    return ordered.iloc[first], ordered.iloc[last]


def spans_of(flows: pd.DataFrame, end_ns: int) -> dict[str, tuple[int, int]]:
    """Return first start and last end (ns) of each flow.

    A flow whose last transfer failed or never ended counts as one that still has work at `end_ns`: its
    silence is a failure and must not look like a departure.
    """
    first, last = ends_of_flows(flows)
    return {
        str(flow_id): (int(start), int(end) if status == TransferStatus.OK and pd.notna(end) else end_ns)
        for flow_id, start, status, end in zip(
            first["flow_id"], first["start_ns"], last["status"], last["end_ns"], strict=True
        )
    }


def always_busy(flows: pd.DataFrame, spans: Spans) -> bool:
    """Return whether every flow's transfers fill its span, back to back or nearly so."""
    numbers, flow_ids = pd.factorize(flows["flow_id"])
    starts_ns, last_ns = np.array([spans[str(flow_id)] for flow_id in flow_ids], dtype=np.float64).T
    ends_ns = flows["end_ns"].to_numpy(dtype=np.float64, na_value=np.nan)
    is_open = (flows["status"] != TransferStatus.OK).to_numpy() | np.isnan(ends_ns)
    ends_ns = np.where(is_open, last_ns[numbers], ends_ns)
    busy_ns: NDArray[np.float64] = np.bincount(numbers, ends_ns - flows["start_ns"].to_numpy())
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
