"""The transfers of a cell as arrays, and the chains in which they wait."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.workloads.records import TransferStatus

Mask = NDArray[np.bool_]


class Coded(NamedTuple):
    """A column of names: each row has an index into `names`, or -1."""

    codes: NDArray[np.intp]
    names: tuple[str, ...]

    def are(self, name: str) -> Mask:
        """Return a mask of the rows with this name."""
        are: Mask = self.codes == (self.names.index(name) if name in self.names else len(self.names))
        return are

    def rows_of(self, mask: Mask) -> set[str]:
        """Return the names in the rows that a mask selects."""
        return {self.names[code] for code in np.unique(self.codes[mask]) if code >= 0}


def coded(column: "pd.Series[str]") -> Coded:
    """Return a column of names with its codes, those of the file if there are any."""
    values = column.array
    if isinstance(values, pd.Categorical):
        return Coded(values.codes.astype(np.intp), tuple(map(str, values.categories)))
    codes, names = pd.factorize(column)
    return Coded(codes, tuple(map(str, names)))


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Transfers:
    """The transfers with payload, in the order of the table.

    Every array has one value per transfer. Times are ns; a missing time is NaN.
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
        """Return the number of transfers."""
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
    """Return a sort key that orders h2 before h10: text and numbers alternate."""
    parts = re.split(r"([0-9]+)", flow_id)
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


@dataclass(frozen=True, slots=True)
class Waits:
    """The transfers of groups with waiting transfers, in the order of the table.

    A missing instant is NaN.
    """

    destination: NDArray[np.object_]
    start_ns: Floats
    arrived_ns: Floats
    is_ok: Mask
    critical: tuple[int, ...]
    """Indices of the transfers of the critical path by time: the last one arrived last, and each one waited
    for the one before."""

    @property
    def is_complete(self) -> bool:
        """True if all transfers arrived and none failed."""
        return bool(self.is_ok.all()) and not np.isnan(self.arrived_ns).any()

    @property
    def first_ns(self) -> float:
        """Return when the first of them started."""
        return float(self.start_ns.min())

    def last_of_hosts(self) -> dict[str, float]:
        """Return when the last transfer of each receiving host arrived."""
        last = pd.Series(self.arrived_ns).groupby(self.destination).max()
        return {str(host): float(arrived_ns) for host, arrived_ns in last.items()}


def waits_of(flows: pd.DataFrame) -> Waits | None:
    """Return the waiting transfers of a `flows` table; None without known arrivals."""
    known = flows["arrived_ns"].notna().to_numpy()
    if not known.any():
        return None
    own = flows[np.isin(flows["group"], flows["group"][known].unique())]
    arrived_ns = own["arrived_ns"].to_numpy(dtype=np.float64, na_value=np.nan)
    return Waits(
        destination=own["dst"].to_numpy(dtype=object),
        start_ns=own["start_ns"].to_numpy(dtype=np.float64),
        arrived_ns=arrived_ns,
        is_ok=(own["status"] == TransferStatus.OK).to_numpy(dtype=bool),
        critical=_critical(own, arrived_ns),
    )


def _critical(flows: pd.DataFrame, arrived_ns: Floats) -> tuple[int, ...]:
    """Follow the predecessors back from the last arrival."""
    names = zip(flows["flow_id"], flows["transfer_id"], strict=True)
    places = {(str(flow), int(number)): place for place, (flow, number) in enumerate(names)}
    before_flow, before_number = flows["waited_for_flow"].array, flows["waited_for_transfer"].array
    has_waited: Mask = flows["waited_for_flow"].notna().to_numpy()
    path = [int(np.nanargmax(arrived_ns))]
    while has_waited[path[-1]] and len(path) <= len(flows):
        before = places.get((str(before_flow[path[-1]]), int(before_number[path[-1]])))
        if before is None:
            break
        path.append(before)
    return tuple(reversed(path))
