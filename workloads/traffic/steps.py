"""Transfers and computing that wait for each other, put together step by step."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rogue.workloads.traffic.workload import Arrival, Flow, Moment, Predecessor, Verb, flow_ends


class Cause(NamedTuple):
    """A moment of a transfer, by the transfer's number among the steps."""

    transfer: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happens at a host: at the latest of its causes, each with the pause that follows it.

    Whatever computing lies in between is in the pauses, so that a step needs no event of its own:
    max(a, b) + d = max(a + d, b + d).
    """

    pauses_ns: Mapping[Cause, int] = field(default_factory=dict)
    least_ns: int = 0
    """It does not happen before this instant."""

    def later(self, pause_ns: int) -> "Step":
        """The same, and then a pause, such as computing."""
        if not pause_ns:
            return self
        return Step(
            {cause: each + pause_ns for cause, each in self.pauses_ns.items()}, self.least_ns + pause_ns
        )


def all_of(steps: Iterable[Step]) -> Step:
    """When all of them have happened."""
    pauses_ns: dict[Cause, int] = {}
    least_ns = 0
    for step in steps:
        least_ns = max(least_ns, step.least_ns)
        for cause, pause_ns in step.pauses_ns.items():
            pauses_ns[cause] = max(pause_ns, pauses_ns.get(cause, 0))
    return Step(pauses_ns, least_ns)


class Sent(NamedTuple):
    """A transfer's own steps, at the host that knows of each; most are never asked for."""

    transfer: int

    @property
    def started(self) -> Step:
        """It has started."""
        return Step({Cause(self.transfer, "start"): 0})

    @property
    def arrived(self) -> Step:
        """All of it is at its receiver."""
        return Step({Cause(self.transfer, "arrival"): 0})

    @property
    def ended(self) -> Step:
        """Its source knows that it has arrived."""
        return Step({Cause(self.transfer, "end"): 0})


class Steps:
    """Transfers in the order in which they were added, which is that of each connection."""

    def __init__(self) -> None:
        self._ends: list[tuple[str, str, int, int]] = []
        self._arrivals: list[Arrival] = []
        self._counts: dict[tuple[str, str, int], int] = defaultdict(int)

    def send(
        self, source: str, destination: str, size_bytes: int, after: Step, *, connection: int = 0
    ) -> Sent:
        """Add a transfer that starts after a step at its source; say when what of it happens."""
        ends = source, destination, connection
        transfer = len(self._arrivals)
        self._ends.append((*ends, self._counts[ends]))
        self._counts[ends] += 1
        self._arrivals.append(Arrival(after.least_ns, size_bytes, self.predecessors(after)))
        return Sent(transfer)

    def predecessors(self, after: Step) -> tuple[Predecessor, ...]:
        """Return what a step comes after, with the pauses."""
        return tuple(
            Predecessor(
                flow_ends(*self._ends[cause.transfer][:3]),
                self._ends[cause.transfer][3],
                cause.moment,
                pause_ns,
            )
            for cause, pause_ns in after.pauses_ns.items()
        )

    def flows(self, verb: Verb) -> tuple[Flow, ...]:
        """One flow for each connection, by the first of its transfers."""
        lines: dict[tuple[str, str, int], list[Arrival]] = {}
        for (source, destination, connection, _), arrival in zip(self._ends, self._arrivals, strict=True):
            line = lines.setdefault((source, destination, connection), [])
            before_ns = line[-1].start_ns if line else 0
            line.append(arrival._replace(start_ns=max(arrival.start_ns, before_ns)))
        return tuple(
            Flow(
                source=source,
                destination=destination,
                verb=verb,
                size_bytes=line[0].size_bytes,
                start_ns=line[0].start_ns,
                count=len(line),
                arrivals=tuple(line),
                number=connection,
            )
            for (source, destination, connection), line in lines.items()
        )
