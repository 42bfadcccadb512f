"""What goes wrong on purpose in a cell, once chance has decided."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import Fault, LinkCut
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies import Link, Topology

_Same: TypeAlias = tuple[tuple[str, str], bool, int | None]


def faults_struck(experiment: Experiment, seed: int) -> tuple[Fault, ...]:
    """The faults of an experiment, drawn one after the other: what one cuts the next one leaves alone.

    Outages of one link and with the same `reroute_after` that adjoin or overlap are one.
    """
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
    return tuple(_joined(topology, found))


def _joined(topology: Topology, faults: Sequence[Fault]) -> Iterable[Fault]:
    """Each where it, or the first outage of its link, was written."""
    outages: dict[_Same, list[LinkCut]] = {}
    for cut in sorted((fault for fault in faults if isinstance(fault, LinkCut)), key=lambda cut: cut.at_ns):
        of_link = outages.setdefault(_same(topology, cut), [])
        if of_link and cut.at_ns <= _end_ns(of_link[-1]):
            end_ns = max(_end_ns(cut), _end_ns(of_link[-1]))
            of_link[-1] = of_link[-1].model_copy(update={"duration_ns": end_ns - of_link[-1].at_ns})
        else:
            of_link.append(cut)
    for fault in faults:
        yield from outages.pop(_same(topology, fault), ()) if isinstance(fault, LinkCut) else (fault,)


def _end_ns(cut: LinkCut) -> int:
    return cut.at_ns + cut.duration_ns


def _same(topology: Topology, cut: LinkCut) -> _Same:
    """What outages have in common that can be one."""
    link = cut.link(topology)
    assert link is not None, "an experiment with an outage of no link"
    return cut.ends(link), cut.one_way, cut.reroute_after_ns


def _cut(topology: Topology, faults: Iterable[Fault]) -> set[Link]:
    cut = (fault.link(topology) for fault in faults if isinstance(fault, LinkCut))
    return {link for link in cut if link is not None}
