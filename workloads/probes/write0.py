"""A WRITE without payload."""

from typing import Literal

from workloads.probes.probe import Probe
from workloads.streams import start_jitter_ns
from workloads.traffic.workload import Flow


class Write0(Probe):
    """A WRITE without payload: its completion takes one network round trip and no remote processor."""

    kind: Literal["write0"] = "write0"

    def flow(self, source: str, destination: str, seed: int) -> Flow:
        """Probes on a grid of `interval`, posted whether or not those before are back."""
        return Flow(
            source=source,
            destination=destination,
            verb="write",
            size_bytes=0,
            start_ns=start_jitter_ns(seed, f"probe/{source}->{destination}"),
            count=None,
            interval_ns=self.interval_ns,
        )
