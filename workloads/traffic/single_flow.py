"""One flow between two hosts of an otherwise idle network."""

from typing import Annotated, Literal

from pydantic import Field

from rogue.workloads.specification import Size, Time
from rogue.workloads.topologies.topology import Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class Ping(Workload):
    """One verb at a time between two hosts: each starts when the one before is done. It measures latency.

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
        return 2

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        ends = placement.senders[0], placement.receiver
        flow = Flow(*ends, self.verb, self.size_bytes, 0, count=self.count)
        return (flow.with_start_jitter(seed),)


class RttAccuracy(Workload):
    """One flow at line rate in an idle network; its RTTs differ from the probe's by the measurement error.

    Source: RoGUE, section 5.4 and table 1.
    """

    kind: Literal["rtt_accuracy"] = "rtt_accuracy"
    run_for_ns: Time
    """How long."""
    size_bytes: Size = 128_000_000
    """Payload of one transfer; the transport cuts it into verbs."""
    verb: Verb = "read"
    """How the bytes are moved."""

    def hosts_min(self) -> int:
        return 2

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        ends = placement.senders[0], placement.receiver
        flow = Flow(*ends, self.verb, self.size_bytes, 0, count=None, repeat_until_ns=self.run_for_ns)
        return (flow.with_start_jitter(seed),)

    @property
    def duration_ns(self) -> int:
        return self.run_for_ns
