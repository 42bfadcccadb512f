"""Flows that double in number again and again, and then halve."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Size, Time, mistake, mistakes_at
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class Doubling(Workload):
    """Flows to one receiver: each `step` there are twice as many, up to a number, then again half as many.

    The flows that joined last leave first; one that leaves still ends the transfer that it has begun.

    Source: RoCC (CoNEXT 2020), section 6.1, figure 9: 3 flows to 100 and back, a step each 10 ms.
    """

    kind: Literal["doubling"] = "doubling"
    senders: Annotated[int, Field(ge=1, le=HOSTS_MAX)] = 100
    """How many flows there are at most."""
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
        """The senders and the receiver."""
        return self.senders + 1

    @property
    def levels(self) -> tuple[int, ...]:
        """How many flows there are in each step, 3, 6, ..., 96, 100, 50 and so on down to the first."""
        up = [self.senders_first]
        while up[-1] < self.senders:
            up.append(min(2 * up[-1], self.senders))
        return (*up, *reversed(up[:-1]))

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow per sender, each with its own start jitter."""
        receiver, levels = placement.receiver, self.levels
        flows = []
        for index, sender in enumerate(placement.senders[: self.senders]):
            busy = [step for step, level in enumerate(levels) if level > index]
            flows.append(
                Flow(
                    source=sender,
                    destination=receiver,
                    verb=self.verb,
                    size_bytes=self.size_bytes,
                    start_ns=busy[0] * self.step_ns + start_jitter_ns(seed, f"{sender}->{receiver}"),
                    count=None,
                    repeat_until_ns=(busy[-1] + 1) * self.step_ns,
                )
            )
        return tuple(flows)

    @property
    def duration_ns(self) -> int:
        """One step per level."""
        return len(self.levels) * self.step_ns
