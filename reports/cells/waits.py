"""Transfers that waited for others: when the whole was done, and by which chain."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.coded import Mask
from rogue.workloads.records import TransferStatus

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Waits:
    """The transfers of the groups in which some wait for arrivals, in the order of the table.

    An instant that never came is NaN.
    """

    destination: NDArray[np.object_]
    start_ns: Floats
    arrived_ns: Floats
    is_ok: Mask
    critical: tuple[int, ...]
    """Places of the transfers of the critical path: the last to arrive, what it waited for, and so on back.
    In the order of their time."""

    @property
    def is_complete(self) -> bool:
        """Return whether all arrived that started, and none of them failed."""
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
    """Return what waited in a `flows` table; None where nothing is known to have arrived."""
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
    """Follow what each waited for from the last to arrive."""
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
