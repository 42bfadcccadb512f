"""Many senders, one receiver."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Size, Time
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload, flow_ends


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
    """How many connections each sender has, each with transfers of its own."""
    repeat_for_ns: Time | None = None
    """Senders repeat the transfer back to back for this time; by default each sends once."""

    def hosts_min(self) -> int:
        """The senders and the receiver."""
        return self.senders + 1

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow per connection, each with its own start jitter."""
        receiver = placement.receiver
        return tuple(
            Flow(
                source=sender,
                destination=receiver,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=start_jitter_ns(seed, flow_ends(sender, receiver, number)),
                count=1 if self.repeat_for_ns is None else None,
                repeat_until_ns=self.repeat_for_ns,
                verb_bytes=self.verb_size_bytes,
                number=number,
            )
            for sender in placement.senders[: self.senders]
            for number in range(self.connections)
        )

    def expected_connections(self, placement: Placement) -> float:
        """Return the connections of all senders."""
        return len(placement.senders[: self.senders]) * self.connections

    @property
    def duration_ns(self) -> int | None:
        """`repeat_for`, if given."""
        return self.repeat_for_ns
