"""Builds a cell's network before the run, so that the plan can refuse what cannot be built."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Demand
from rogue.harness.testbeds.simulator.faults import arrange_faults, is_misrouted
from rogue.harness.testbeds.simulator.flows import NicFlow, connect_flow
from rogue.harness.testbeds.simulator.network import build_links, nic_flows, nic_probes
from rogue.simulator import ControlError, SimulationError
from rogue.workloads.topologies import PathShape, Topology
from rogue.workloads.traffic import Flow

DRAWN_FEW: Final = 1000
"""Of more drawn transfers there are some of every kind, whatever the seed: in a network that is too large to
look at every pair of its hosts."""
COMPARED_PAIRS_MAX: Final = 4096
OF_A_KIND: Final = 30
"""With this many expected, the chance that a seed draws none is e^-30."""


def unbuildable(cell: Cell) -> str | None:
    """What of the network the engine refuses, in its words; None if nothing."""
    try:
        simulation = build_links(cell)
        for planned in _different(cell):
            connect_flow(simulation, {}, cell, planned)
        arrange_faults(cell, simulation)
    except ControlError as error:
        return f"the plug-in raises at {error.place}: {error}" if error.place else str(error)
    except SimulationError as error:
        return str(error)
    return None


def is_same_for_every_seed(cell: Cell) -> bool:
    """Whether the engine refuses all repetitions or none.

    Not where what a hash chooses decides which way packets go, nor where so little is drawn that another
    seed may leave out a kind of transfer or have the first one of it.
    """
    placement = cell.experiment.placement
    drawn = [group.workload for group in cell.experiment.groups if group.workload.is_drawn]
    return not is_misrouted(cell) and all(
        workload.scheduled_transfers(placement) >= _enough(cell.topology, *workload.drawn_ends(placement))
        for workload in drawn
    )


@lru_cache(maxsize=8)
def _enough(topology: Topology, sources: tuple[str, ...], destinations: tuple[str, ...]) -> float:
    """How many transfers have every shape of path among them, whatever the seed."""
    if len(sources) * len(destinations) > COMPARED_PAIRS_MAX:
        return DRAWN_FEW
    pairs = (ends for ends in product(sources, destinations) if ends[0] != ends[1])
    kinds = Counter(topology.path_shape(*ends) for ends in pairs)
    return OF_A_KIND * kinds.total() / min(kinds.values(), default=1)


def _different(cell: Cell) -> Iterator[NicFlow]:
    """Flows that the engine may judge differently.

    All of them where a hash decides what gets there; else one of each group, on each shape of path.
    """
    is_hashed = is_misrouted(cell)
    for group in cell.groups:
        flows = group.flows if is_hashed else _one_of_each_shape(cell.topology, group.demand)
        yield from nic_flows(cell, group, flows)
    yield from nic_probes(cell)


@lru_cache(maxsize=8)
def _one_of_each_shape(topology: Topology, demand: Demand) -> tuple[Flow, ...]:
    first: dict[PathShape, Flow] = {}
    for flow in demand.flows:
        first.setdefault(topology.path_shape(flow.initiator, flow.responder), flow)
    return tuple(first.values())
