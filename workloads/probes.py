"""The latency probes that an experiment can name."""

from abc import ABC, abstractmethod
from typing import Annotated, Final, Literal

from pydantic import Field

from rogue.workloads.specification import Specification, Time
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.traffic.workload import Flow


class Probe(Specification, ABC):
    """A small request that a host without other traffic repeats."""

    interval_ns: Time
    """Time from one probe to the next."""
    target: Annotated[str, Field(pattern=r"^h[0-9]+$")] | None = None
    """Host that is probed; by default the destination of most flows."""

    @abstractmethod
    def flow(self, source: str, destination: str, seed: int) -> Flow:
        """Return the probe's endless flow."""


class Write0(Probe):
    """A WRITE without payload: its completion takes one network round trip and no remote processor."""

    kind: Literal["write0"] = "write0"

    def flow(self, source: str, destination: str, seed: int) -> Flow:
        """Return probes at each `interval`, whether or not earlier ones are back."""
        return Flow(
            source=source,
            destination=destination,
            verb="write",
            size_bytes=0,
            start_ns=start_jitter_ns(seed, f"probe/{source}->{destination}"),
            count=None,
            interval_ns=self.interval_ns,
        )


PROBES: Final[dict[str, type[Probe]]] = {"write0": Write0}
