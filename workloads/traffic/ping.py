"""One verb at a time in an idle network."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Size
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class Ping(Workload):
    """One verb at a time between two hosts, the next when the one before is done: how long does one take?

    Source: RoGUE, section 5.3 and figure 7.
    """

    kind: Literal["ping"] = "ping"
    size_bytes: Size
    """Payload of the verb."""
    verb: Verb = "read"
    """How the bytes are moved."""
    count: Annotated[int, Field(ge=1, le=10_000_000)] = 1_000
    """How many verbs."""

    def hosts_min(self) -> int:
        """Two."""
        return 2

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """The one flow."""
        source, destination = placement.senders[0], placement.receiver
        return (
            Flow(
                source=source,
                destination=destination,
                verb=self.verb,
                size_bytes=self.size_bytes,
                start_ns=start_jitter_ns(seed, f"{source}->{destination}"),
                count=self.count,
            ),
        )

    @property
    def duration_ns(self) -> None:
        """Until the last verb is done."""
        return None
