"""What a group of traffic asks of the network; its flows are drawn once."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, get_args

from rogue.harness.cell.garbage import nothing_thrown_away
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic import Flow, Verb, Workload
from rogue.workloads.traffic.waiting import WaitingOrder
from rogue.workloads.transports import TransportName


class Demand(NamedTuple):
    """All that decides the flows of a group: what is worked out from these is looked up by it."""

    workload: Workload
    placement: Placement
    seed: int
    verbs: tuple[tuple[Verb, Verb], ...]
    """Each verb that may be asked for, with the one that moves the bytes: all that a transport changes."""

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows; drawn once, because a hundred thousand arrivals take a while."""
        return _carried(self)

    @property
    def order(self) -> WaitingOrder:
        """The order in which transfers wait for each other; worked out once, for there may be millions."""
        return _order(self)

    @property
    def replaced(self) -> tuple[tuple[Verb, Verb], ...]:
        """The verbs asked for that another verb replaces."""
        asked = {flow.verb for flow in _drawn(self.workload, self.placement, self.seed)}
        return tuple((verb, instead) for verb, instead in self.verbs if verb in asked and verb != instead)


def carried_verbs(transport: TransportName) -> tuple[tuple[Verb, Verb], ...]:
    """Each verb that may be asked for, with the one that moves the bytes."""
    return tuple((verb, transport.carried(verb)) for verb in get_args(Verb))


@lru_cache(maxsize=8)
@nothing_thrown_away()
def _drawn(workload: Workload, placement: Placement, seed: int) -> tuple[Flow, ...]:
    return workload.flows(placement, seed)


@lru_cache(maxsize=2)
@nothing_thrown_away()
def _order(demand: Demand) -> WaitingOrder:
    return WaitingOrder(demand.flows)


@lru_cache(maxsize=8)
def _carried(demand: Demand) -> tuple[Flow, ...]:
    carried = dict(demand.verbs)
    return tuple(
        flow if carried[flow.verb] == flow.verb else replace(flow, verb=carried[flow.verb])
        for flow in _drawn(demand.workload, demand.placement, demand.seed)
    )
