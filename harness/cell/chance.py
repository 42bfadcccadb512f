"""What goes wrong on purpose in a cell, once chance has decided."""

from collections.abc import Iterable
from functools import lru_cache

from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import Fault, LinkCut
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies import Link, Topology


def faults_struck(experiment: Experiment, seed: int) -> tuple[Fault, ...]:
    """The faults of an experiment, drawn one after the other: what one cuts the next one leaves alone."""
    return _struck(experiment.topology, tuple(experiment.faults), seed) if experiment.faults else ()


@lru_cache(maxsize=16)
def _struck(topology: Topology, faults: tuple[Fault, ...], seed: int) -> tuple[Fault, ...]:
    """Cells of one seed have the same; of a large network a drawing takes a second."""
    struck = _cut(topology, faults)
    found: list[Fault] = []
    for number, fault in enumerate(faults):
        drawn = fault.drawn(topology, random_stream(seed, f"faults/{number}"), struck)
        struck |= _cut(topology, drawn)
        found += drawn
    return tuple(found)


def _cut(topology: Topology, faults: Iterable[Fault]) -> set[Link]:
    cut = (fault.link(topology) for fault in faults if isinstance(fault, LinkCut))
    return {link for link in cut if link is not None}
