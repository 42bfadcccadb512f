"""Flows that join one after the other and then leave."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Size, Time
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class Staggered(Workload):
    """Flows to one receiver: each `step` one more joins, then each `step` the newest leaves.

    The first flow runs all the time. Flows repeat their transfer back to back; one that leaves still ends
    the transfer it has begun.

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
        """The senders and the receiver."""
        return self.senders + 1

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow per sender, each with its own start jitter."""
        receiver = placement.receiver
        return tuple(
            Flow(
                source=sender,
                destination=receiver,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=index * self.step_ns + start_jitter_ns(seed, f"{sender}->{receiver}"),
                count=None,
                repeat_until_ns=self.duration_ns - index * self.step_ns,
            )
            for index, sender in enumerate(placement.senders[: self.senders])
        )

    @property
    def duration_ns(self) -> int:
        """One step per number of flows: 1, 2, ... and back to 1."""
        return (2 * self.senders - 1) * self.step_ns
