"""One flow alone, to compare the agent's round-trip times with those of a probe."""

from typing import Literal

from rogue.workloads.specification import Size, Time
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload


class RttAccuracy(Workload):
    """One flow at line rate in an otherwise idle network: what differs from the probe is measurement error.

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
                count=None,
                repeat_until_ns=self.run_for_ns,
            ),
        )

    @property
    def duration_ns(self) -> int:
        """`run_for`."""
        return self.run_for_ns
