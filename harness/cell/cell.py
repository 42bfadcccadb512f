"""One measurement, with what its experiment means for it: worked out once for every testbed."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property

from rogue.harness.cell.carrier import PROBE_GROUP, PROBE_TRANSPORT, Carrier, Group, PlannedFlow
from rogue.harness.cell.chance import faults_struck
from rogue.harness.cell.demand import Demand, carried_verbs
from rogue.harness.cell.network_asked import NetworkAsked, network_asked
from rogue.harness.cell.timing import Timing, timing_of
from rogue.harness.experiment.choices import Scalar, TrafficGroup, TransportChoice
from rogue.harness.experiment.model import Experiment
from rogue.workloads.faults import Fault
from rogue.workloads.topologies import Topology


@dataclass(frozen=True)
class Cell:
    """A transport at one point of an experiment's factors, with a seed."""

    id: str
    """Also the name of its directory."""
    transport: TransportChoice
    factors: Mapping[str, Scalar]
    """Factor values, as written."""
    repetition: int
    """From 1."""
    seed: int
    """Same for all transports and factor points of a repetition: they meet the same traffic."""
    experiment: Experiment
    """With the factors applied."""

    def __getstate__(self) -> dict[str, object]:
        """What was worked out is not sent to other processes: of a large network that takes longer."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def topology(self) -> Topology:
        """Its network."""
        return self.experiment.topology

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Its traffic, without the probe."""
        return tuple(self._group(asked) for asked in self.experiment.groups)

    @cached_property
    def network(self) -> NetworkAsked:
        """What it asks of switches and links; ParameterError if some parameter makes no sense."""
        return network_asked(self.topology, self.groups, self.faults)

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """What goes wrong on purpose, drawn where chance decides."""
        return faults_struck(self.experiment, self.seed)

    @cached_property
    def timing(self) -> Timing:
        """How long it lasts, and how often it is sampled."""
        return timing_of(self.experiment, tuple(group.demand for group in self.groups))

    @cached_property
    def probe(self) -> PlannedFlow | None:
        """The experiment's probe: from a host of its own, in the first group's traffic class."""
        probe = self.experiment.probe
        if probe is None:
            return None
        carrier = Carrier(PROBE_GROUP, PROBE_TRANSPORT, str(PROBE_TRANSPORT), {}, self.groups[0].priority)
        target = probe.target or self.busiest_receiver
        return PlannedFlow(carrier, probe.flow(self.topology.probe_host(), target, self.seed), is_probe=True)

    @property
    def receivers(self) -> Counter[str]:
        """Every host that flows end at, with how many do."""
        return Counter(flow.destination for group in self.groups for flow in group.flows)

    @property
    def busiest_receiver(self) -> str:
        """Return the host that most flows end at, of several the first; the usual receiver without flows."""
        counts = self.receivers
        return max(counts, key=lambda host: counts[host], default=self.experiment.placement.receiver)

    @property
    def replaced_verbs(self) -> str | None:
        """What moves the bytes instead of what was asked for; None if nothing had to be replaced."""
        sentences = {
            f"{group.transport} has no {verb}: {instead} in the same direction of data"
            for group in self.groups
            for verb, instead in group.demand.replaced
        }
        return "; ".join(sorted(sentences)) or None

    @property
    def idleness(self) -> str | None:
        """Return why one of its groups has no transfer; None if all have one."""
        idle = next((group for group in self.groups if not group.flows), None)
        if idle is None:
            return None
        if idle.duration_ns is None:
            return f"{idle.name} has no transfer that could be measured; add one"
        return (
            f"nothing happens in {idle.name}: its first transfer would come after its end; let it run longer"
        )

    def _group(self, asked: TrafficGroup) -> Group:
        """A group with its own transport and parameters, or the cell's."""
        transport = asked.transport or self.transport.name
        cells_own = {} if asked.transport else self.transport.parameters
        return Group(
            name=asked.name,
            transport=transport,
            label=str(asked.transport) if asked.transport else self.transport.shown,
            parameters={**cells_own, **asked.parameters},
            priority=asked.priority,
            asked=asked,
            demand=Demand(asked.workload, self.experiment.placement, self.seed, carried_verbs(transport)),
        )
