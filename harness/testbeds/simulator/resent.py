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
        self._t_ns = [0]
        self._places = [0]
        """Which of the totals was read at each instant: one that changed nothing is not kept again."""
        self._totals = [np.zeros(len(network.flows), np.int64)]

    def read(self) -> None:
        """Read every flow's counter now, if the cell measures it."""
        if not self._is_wanted:
            return
        flows = self._network.flows
        totals = np.fromiter((flow.agent.retransmitted_bytes for flow in flows), np.int64, len(flows))
        if not np.array_equal(totals, self._totals[-1]):
            self._totals.append(totals)
        self._t_ns.append(self._network.simulation.now_ns)
        self._places.append(len(self._totals) - 1)

    def within(self, flow: Integers, starts_ns: Integers, ends_ns: Integers) -> NDArray[np.float64]:
        """Bytes sent again in each interval by a flow, by its number in the network.

        NaN where the counter was not read at both ends of an interval.
        """
        totals = np.array(self._totals, np.float64)
        starts, ends = self._read_at(starts_ns), self._read_at(ends_ns)
        places = np.array(self._places)
        resent = totals[places[ends], flow] - totals[places[starts], flow]
        return np.where((starts >= 0) & (ends >= 0), resent, np.nan)

    def _read_at(self, t_ns: Integers) -> NDArray[np.intp]:
        """Which reading was at that instant, the last of several; -1 if none was."""
        place = np.searchsorted(self._t_ns, t_ns, side="right") - 1
        return np.where(np.array(self._t_ns)[place] == t_ns, place, -1)
