"""The transfers of a cell as plain arrays: most metrics of a cell are sums and sorts of a few of them."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.coded import Mask, coded
from rogue.workloads.records import TransferStatus

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Transfers:
    """The transfers that carry payload, in the order of the table; probes of size 0 are none of them.

    Every array has one value per transfer. Times are ns; a time that never came is NaN.
    """

    flow_ids: tuple[str, ...]
    """The flows, in a fixed order: h2 before h10."""
    flow: Ints
    """Place of the transfer's flow in `flow_ids`."""
    size_bytes: Ints
    start_ns: Ints
    end_ns: Floats
    fct_ns: Floats
    slowdown: Floats
    goodput_bps: Floats
    is_ok: Mask
    is_unfinished: Mask

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.flow)

    def ends_of_flows(self) -> tuple[Ints, Ints]:
        """Return the places of the first and of the last transfer of each flow, by start."""
        order = np.argsort(self.start_ns, kind="stable")
        flow = self.flow[order]
        first = np.unique(flow, return_index=True)[1]
        last = len(flow) - 1 - np.unique(flow[::-1], return_index=True)[1]
        return order[first], order[last]


def transfers_of(flows: pd.DataFrame) -> Transfers:
    """Return the transfers in the rows of a `flows` table."""
    size_bytes = flows["size_bytes"].to_numpy()
    carries = size_bytes > 0
    ids, status = coded(flows["flow_id"]), coded(flows["status"])
    flow_ids = tuple(sorted(ids.rows_of(carries), key=natural))
    places = {flow_id: place for place, flow_id in enumerate(flow_ids)}
    of_codes = np.array([places.get(name, -1) for name in ids.names], dtype=np.int64)
    return Transfers(
        flow_ids=flow_ids,
        flow=of_codes[ids.codes[carries]],
        size_bytes=size_bytes[carries],
        start_ns=flows["start_ns"].to_numpy()[carries],
        end_ns=_floats(flows, "end_ns", carries),
        fct_ns=_floats(flows, "fct_ns", carries),
        slowdown=_floats(flows, "slowdown", carries),
        goodput_bps=_floats(flows, "goodput_bps", carries),
        is_ok=status.are(TransferStatus.OK)[carries],
        is_unfinished=status.are(TransferStatus.UNFINISHED)[carries],
    )


def _floats(flows: pd.DataFrame, column: str, mask: Mask) -> Floats:
    return flows[column].to_numpy(dtype=np.float64, na_value=np.nan)[mask]


def natural(flow_id: str) -> tuple[str | int, ...]:
    """Order h2 before h10: text and numbers alternate, so that like is compared with like."""
    parts = re.split(r"([0-9]+)", flow_id)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))
