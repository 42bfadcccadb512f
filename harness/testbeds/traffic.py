"""Who sends what to whom in a cell, by which transport, with which verb."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, get_args

from harness.experiment.choices import Scalar, TrafficGroup
from harness.plan.cells import Cell
from workloads.topologies import Placement
from workloads.traffic import Flow, Verb, Workload
from workloads.transports import parse_transport


def group_transport(cell: Cell, group: TrafficGroup) -> str:
    """Name of the transport that carries a group: its own, or the cell's."""
    return group.transport or cell.transport.name


def group_parameters(cell: Cell, group: TrafficGroup) -> dict[str, Scalar]:
    """Parameters of that transport: the cell's, if it is the cell's, and the group's own."""
    return {**({} if group.transport else cell.transport.parameters), **group.parameters}


class Demand(NamedTuple):
    """All that decides the flows of a group: what is worked out from these is looked up by it."""

    workload: Workload
    placement: Placement
    seed: int
    verbs: tuple[tuple[Verb, Verb], ...]
    """Each verb that may be asked for, with the one that moves the bytes."""

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows; drawn once, because a hundred thousand arrivals take a while."""
        return _carried(self)


def cell_demands(cell: Cell) -> dict[str, Demand]:
    """What is asked of the network by each group, without the probe."""
    placement = cell.experiment.placement
    return {
        group.name: Demand(group.workload, placement, cell.seed, _verbs(group_transport(cell, group)))
        for group in cell.experiment.groups
    }


def cell_flows(cell: Cell) -> dict[str, tuple[Flow, ...]]:
    """Flows of each group, without the probe's; a verb that its transport lacks is replaced."""
    return {name: demand.flows for name, demand in cell_demands(cell).items()}


@lru_cache(maxsize=8)
def _drawn(workload: Workload, placement: Placement, seed: int) -> tuple[Flow, ...]:
    return workload.flows(placement, seed)


@lru_cache(maxsize=8)
def _carried(demand: Demand) -> tuple[Flow, ...]:
    carried = dict(demand.verbs)
    return tuple(
        flow if carried[flow.verb] == flow.verb else replace(flow, verb=carried[flow.verb])
        for flow in _drawn(demand.workload, demand.placement, demand.seed)
    )


def _verbs(transport: str) -> tuple[tuple[Verb, Verb], ...]:
    """Each verb that may be asked for, with the one that moves the bytes: all that a transport changes."""
    name = parse_transport(transport)
    return tuple((verb, name.carried(verb)) for verb in get_args(Verb))


def replaced_verbs(cell: Cell) -> str | None:
    """What moves the bytes instead of what was asked for; None if nothing had to be replaced."""
    sentences = set()
    for group in cell.experiment.groups:
        name = group_transport(cell, group)
        carried = {flow.verb for flow in cell_flows(cell)[group.name]}
        for flow in _drawn(group.workload, cell.experiment.placement, cell.seed):
            if flow.verb not in carried:
                instead = parse_transport(name).carried(flow.verb)
                sentences.add(f"{name} has no {flow.verb}: {instead} in the same direction of data")
    return "; ".join(sorted(sentences)) or None


def receivers(cell: Cell) -> dict[str, int]:
    """Every host that flows end at, with how many do."""
    found: dict[str, int] = {}
    for flows in cell_flows(cell).values():
        for flow in flows:
            found[flow.destination] = found.get(flow.destination, 0) + 1
    return found


def busiest_receiver(cell: Cell) -> str:
    """The host that most flows end at; of several the first."""
    counts = receivers(cell)
    return max(counts, key=lambda host: counts[host])
