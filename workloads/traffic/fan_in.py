"""Flows from many senders to one receiver."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Size, Time, mistake, mistakes_at
from rogue.workloads.streams import START_JITTER_NS
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class Incast(Workload):
    """Many senders, one receiver."""

    kind: Literal["incast"] = "incast"
    senders: Annotated[int, Field(ge=1, le=HOSTS_MAX)]
    """How many hosts send."""
    size_bytes: Size
    """Payload of one transfer."""
    verb: Verb = "write"
    """How the bytes are moved."""
    verb_size_bytes: Size | None = None
    """The application posts a transfer as verbs of this size; by default as one."""
    connections: Annotated[int, Field(ge=1, le=1024)] = 1
    """How many connections each sender has, each with its own transfers."""
    repeat_for_ns: Time | None = None
    """Senders repeat the transfer back to back for this time; by default each sends once."""
    start_within_ns: Time = START_JITTER_NS
    """Senders start at random times within this time."""

    def hosts_min(self) -> int:
        return self.senders + 1

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        return tuple(
            Flow(
                source=sender,
                destination=placement.receiver,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=0,
                count=1 if self.repeat_for_ns is None else None,
                repeat_until_ns=self.repeat_for_ns,
                verb_bytes=self.verb_size_bytes,
                number=number,
            ).with_start_jitter(seed, self.start_within_ns)
            for sender in placement.senders[: self.senders]
            for number in range(self.connections)
        )

    def expected_connections(self, placement: Placement) -> float:
        return len(placement.senders[: self.senders]) * self.connections

    @property
    def duration_ns(self) -> int | None:
        return self.repeat_for_ns


class Staggered(Workload):
    """Flows to one receiver: each `step` one more joins, then each `step` the newest leaves.

    The first flow runs all the time. Flows repeat their transfer back to back; a leaving flow completes the
    transfer that it has begun.

    Source: RoGUE, section 5.5 and figure 12.
    """

    kind: Literal["staggered"] = "staggered"
    senders: Annotated[int, Field(ge=2, le=HOSTS_MAX)] = 5
    """How many flows there are when all have joined."""
    step_ns: Time
    """Time between one change and the next."""
    size_bytes: Size = 32_000_000
    """Payload of one transfer."""
    verb: Verb = "write"
    """How the bytes are moved."""

    def hosts_min(self) -> int:
        return self.senders + 1

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        return tuple(
            Flow(
                source=sender,
                destination=placement.receiver,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=index * self.step_ns,
                count=None,
                repeat_until_ns=self.duration_ns - index * self.step_ns,
            ).with_start_jitter(seed)
            for index, sender in enumerate(placement.senders[: self.senders])
        )

    @property
    def duration_ns(self) -> int:
        """Return one step per number of flows: 1, 2, ... and back to 1."""
        return (2 * self.senders - 1) * self.step_ns


class Doubling(Workload):
    """Flows to one receiver whose number doubles each `step` up to a maximum, and then halves.

    The flows that joined last leave first; a leaving flow completes the transfer that it has begun.

    Source: RoCC (CoNEXT 2020), section 6.1, figure 9: 3 flows to 100 and back, a step each 10 ms.
    """

    kind: Literal["doubling"] = "doubling"
    senders: Annotated[int, Field(ge=1, le=HOSTS_MAX)] = 100
    """Largest number of flows."""
    senders_first: Annotated[int, Field(ge=1, le=HOSTS_MAX)] = 3
    """How many flows there are at first."""
    step_ns: Time = 10_000_000
    """Time between one change and the next."""
    size_bytes: Size = 64_000
    """Payload of one transfer; flows repeat it back to back."""
    verb: Verb = "write"
    """How the bytes are moved."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.senders_first >= self.senders:
            found = mistake(f"fewer than senders, {self.senders}", "begin with fewer")
            raise mistakes_at({"senders_first": found})
        return self

    def hosts_min(self) -> int:
        return self.senders + 1

    @property
    def levels(self) -> tuple[int, ...]:
        """Return the number of flows in each step: 3, 6, ..., 96, 100, 50 and so on down to the first."""
        up = [self.senders_first]
        while up[-1] < self.senders:
            up.append(min(2 * up[-1], self.senders))
        return (*up, *reversed(up[:-1]))

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        flows = []
        for index, sender in enumerate(placement.senders[: self.senders]):
            busy = [step for step, level in enumerate(self.levels) if level > index]
            flow = Flow(
                source=sender,
                destination=placement.receiver,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=busy[0] * self.step_ns,
                count=None,
                repeat_until_ns=(busy[-1] + 1) * self.step_ns,
            )
            flows.append(flow.with_start_jitter(seed))
        return tuple(flows)

    @property
    def duration_ns(self) -> int:
        return len(self.levels) * self.step_ns
