"""How much each flow has sent again, read from time to time while a simulation runs."""

import numpy as np
from numpy.typing import NDArray

from rogue.harness.testbeds.simulator.network import SimulatedNetwork

Integers = NDArray[np.int64]


class ResentBytes:
    """Payload that NIC and software sent again, per flow, at the instants at which it was read."""

    def __init__(self, network: SimulatedNetwork, *, is_wanted: bool = True) -> None:
        self._network = network
        self._is_wanted = is_wanted
        self._column_of = {flow.flow_id: column for column, flow in enumerate(network.flows)}
        self._t_ns = [0]
        self._totals: list[list[int]] = [[0] * len(network.flows)]

    def read(self) -> None:
        """Read every flow's counter now, if the cell measures it."""
        if not self._is_wanted:
            return
        self._t_ns.append(self._network.simulation.now_ns)
        self._totals.append([flow.agent.retransmitted_bytes for flow in self._network.flows])

    def within(self, flow_id: str, starts_ns: Integers, ends_ns: Integers) -> NDArray[np.float64]:
        """Bytes sent again in each interval; NaN where the counter was not read at both of its ends."""
        column = self._column_of[flow_id]
        totals = np.array([row[column] for row in self._totals], np.float64)
        starts, ends = self._read_at(starts_ns), self._read_at(ends_ns)
        resent = totals[ends] - totals[starts]
        return np.where((starts >= 0) & (ends >= 0), resent, np.nan)

    def _read_at(self, t_ns: Integers) -> NDArray[np.intp]:
        """Which reading was at that instant, the last of several; -1 if none was."""
        place = np.searchsorted(self._t_ns, t_ns, side="right") - 1
        return np.where(np.array(self._t_ns)[place] == t_ns, place, -1)
