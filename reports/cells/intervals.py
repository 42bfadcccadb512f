"""Delivered payload between any instants, from samples whose intervals may differ in length and place."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray


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
