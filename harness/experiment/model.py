"""Define the pydantic model of an experiment file."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Final, Self

from pydantic import Field, JsonValue, model_validator

from rogue.harness.experiment.choices import (
    ON_REQUEST,
    MeasureChoice,
    MeasureKind,
    Parameter,
    TrafficGroup,
    TransportChoice,
)
from rogue.harness.experiment.document import PAPER, Scale
from rogue.harness.experiment.keys import ByKind
from rogue.workloads.faults import FAULTS, Fault, ForwardingFault
from rogue.workloads.printable import did_you_mean
from rogue.workloads.probes import PROBES, Probe
from rogue.workloads.specification import Name, Specification, Time, mistake, mistakes_at
from rogue.workloads.topologies import TOPOLOGIES, Placement, Topology
from rogue.workloads.traffic import WORKLOADS, Workload

TRANSFERS_MAX: Final = 5_000_000
"""Each is a row of the results and an object in memory."""
REPETITIONS_MAX: Final = 10_000
SEED_MAX: Final = 2**53
SINGLE_GROUP: Final = "main"


class Experiment(Specification):
    """The content of an experiment file, at one point of its factors."""

    name: Name
    """Name of the experiment; results are stored under it."""
    title: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A line for people; by default the name."""
    question: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """What the experiment is to answer, in one sentence; the report begins with it."""
    topology: Annotated[Topology, ByKind(TOPOLOGIES)]
    """The network."""
    workload: Annotated[Workload, ByKind(WORKLOADS)] | None = None
    """The traffic, if there is one kind of it."""
    traffic: Annotated[list[TrafficGroup], Field(min_length=1, max_length=64)] | None = None
    """The traffic in general: named groups."""
    probe: Annotated[Probe, ByKind(PROBES)] | None = None
    """Latency probe from a separate host."""
    transports: Annotated[list[TransportChoice], Field(min_length=1, max_length=100)]
    """What moves the bytes; each is measured on its own."""
    factors: dict[str, Annotated[list[Parameter], Field(min_length=1)]] = Field(default_factory=dict)
    """Lists of values by dotted key; every combination is measured."""
    faults: list[Annotated[Fault, ByKind(FAULTS)]] = Field(default_factory=list, max_length=64)
    """What goes wrong on purpose."""
    repetitions: Annotated[int, Field(ge=1, le=REPETITIONS_MAX)] = 1
    """How often each point is measured; repetition r has the seed `seed + r - 1`."""
    seed: Annotated[int, Field(ge=0, le=SEED_MAX)] = 1
    """Seed of the first repetition."""
    scale: Scale = PAPER
    """`paper`, or `quick` for the version of a few minutes or less that `scales` describes."""
    scales: dict[Scale, dict[str, JsonValue]] = Field(default_factory=dict)
    """What a scale changes, by dotted key; without an entry, `quick` is one repetition."""
    measure: Annotated[list[MeasureChoice], Field(min_length=1)] | None = None
    """What to record; by default everything that the testbed can."""
    agree_within: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=dict)
    """Allowed difference between the means of two testbeds, by measure, as a fraction of the larger one."""
    plugins: Annotated[list[str], Field(max_length=64)] = Field(default_factory=list)
    """Files of Python code that add controls, workloads and more, named from the place of this file."""
    time_limit_ns: Time | None = None
    """A cell whose traffic is not over by then has failed; by default ten times what it should take."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.workload is None) == (self.traffic is None):
            got = "neither" if self.workload is None else "both"
            raise mistakes_at({"workload": mistake("either workload or traffic", "write one", got)})
        _check_unique("traffic", [group.name for group in self.groups])
        _check_unique("transports", [choice.shown for choice in self.transports])
        _check_unique("measure", [choice.kind for choice in self.measure or []])
        if self.measure and self.measures("latency") and not self.has_probes:
            found = mistake("a probe, for latency is to be measured", "add {kind: write0, interval: 1ms}")
            raise mistakes_at({"probe": found})
        self._check_hosts()
        self._check_transfers()
        self._check_probe()
        self._check_targets()
        self._check_forwarding()
        self._check_measures()
        self._check_ports()
        return self

    def _check_hosts(self) -> None:
        key = "workload" if self.traffic is None else "traffic"
        for group in self.groups:
            if (unfit := group.workload.unfit(self.placement)) is not None:
                raise mistakes_at({key: unfit})
        traffic = max(group.workload.hosts_min() for group in self.groups)
        needed = traffic + (1 if self.probe else 0)
        present = len(self.topology.host_names())
        if present < needed:
            whose = f"{traffic} for the traffic" + (" and one for the probe" if self.probe else "")
            found = mistake(
                f"at least {needed} hosts, {whose}", "add hosts or take senders away", f"{present} hosts"
            )
            raise mistakes_at({"topology": found})

    def _check_transfers(self) -> None:
        """Refuse too many transfers before any is drawn."""
        transfers = sum(group.workload.scheduled_transfers(self.placement) for group in self.groups)
        if transfers > TRANSFERS_MAX:
            key = "workload" if self.traffic is None else "traffic"
            advice = "let them start for a shorter time or more rarely, or make them larger"
            found = mistake(f"at most {TRANSFERS_MAX} transfers", advice, f"about {transfers:.2g} transfers")
            raise mistakes_at({key: found})

    def _check_probe(self) -> None:
        target = self.probe.target if self.probe else None
        if target is not None and target not in self.placement.hosts:
            expected = f"a host of the topology other than {self.topology.probe_host()}, which probes"
            found = mistake(expected, "choose one, or leave it out", f"the target {target}")
            raise mistakes_at({"probe": found})

    def _check_targets(self) -> None:
        for fault in self.faults:
            if not fault.is_there(self.topology):
                expected = fault.expected_target(self.topology)
                found = mistake(expected, "name what there is", fault.described_target())
                raise mistakes_at({"faults": found})

    def _check_forwarding(self) -> None:
        rules: dict[tuple[str, str], str] = {}
        for fault in self.faults:
            if isinstance(fault, ForwardingFault):
                rule = f"{dict(fault)['kind']} {fault.target}"
                before = rules.setdefault(fault.rule, rule)
                if before != rule:
                    expected = "at most one misrouting or flooding of a switch and a destination"
                    got = f"{before} and {rule} of what is for {fault.rule[1]}"
                    raise mistakes_at({"faults": mistake(expected, "take one of them away", got)})

    def _check_measures(self) -> None:
        if not self.agree_within:
            return
        from rogue.reports.metrics import (
            METRICS,  # only here, for importing it takes as long as everything else
        )

        for name in self.agree_within:
            if name not in METRICS:
                advice = did_you_mean(name, METRICS, "see the columns of `rogue export`")
                found = mistake("measures of the report", advice, f"the measure {name}")
                raise mistakes_at({"agree_within": found})

    def _check_ports(self) -> None:
        packets = self.measure_choice("packets")
        if packets is None or packets.ports is None:
            return
        known = {*self.topology.ports(), *self.topology.nodes()}
        for port in packets.ports:
            if port not in known:
                advice = did_you_mean(port, known, "see the topology with `rogue plan`")
                found = mistake("ports such as h0->s0, or nodes", advice, f"the port {port}")
                raise mistakes_at({"measure": found})

    @cached_property
    def groups(self) -> tuple[TrafficGroup, ...]:
        """Return the traffic as named groups."""
        if self.traffic is not None:
            return tuple(self.traffic)
        return (TrafficGroup.model_construct(name=SINGLE_GROUP, workload=self.workload),)

    @property
    def has_probes(self) -> bool:
        """Return True if anything measures latency."""
        return self.probe is not None or any(group.workload.is_probing for group in self.groups)

    @property
    def placement(self) -> Placement:
        """Return the senders and receivers."""
        return self.topology.placement(has_probe=self.probe is not None)

    def measure_choice(self, kind: MeasureKind) -> MeasureChoice | None:
        """Return the choice of a measure; None if it is not listed."""
        return next((each for each in self.measure or [] if each.kind == kind), None)

    def interval_ns(self, kind: MeasureKind) -> int | None:
        """Return the stated interval of a measure."""
        requested = self.measure_choice(kind)
        return requested.interval_ns if requested else None

    def measures(self, kind: MeasureKind) -> bool:
        """Return True if a measure is to be recorded."""
        if self.measure is None:
            return kind not in ON_REQUEST and (kind != "latency" or self.has_probes)
        return self.measure_choice(kind) is not None

    def unmet_requirement(self, not_measured: Mapping[MeasureKind, str] | Mapping[str, str]) -> str | None:
        """Return the first required measure that cannot be recorded, with the reason; None if all can.

        `not_measured` has the reasons by measure.
        """
        required = [choice.kind for choice in self.measure or () if choice.required]
        return next((f"{kind}: {not_measured[kind]}" for kind in required if kind in not_measured), None)


def _check_unique(key: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            found = mistake("each of them once", "remove one, or give it another name", f"{name} twice")
            raise mistakes_at({key: found})
