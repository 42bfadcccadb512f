"""The latency probes that an experiment can name."""

from abc import ABC, abstractmethod
from typing import Annotated, Final, Literal

from pydantic import Field

from rogue.workloads.specification import Specification, Time
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.traffic.workload import Flow


class Probe(Specification, ABC):
    """A small request sent again and again from a host that does nothing else."""

    interval_ns: Time
    """Time from one probe to the next."""
    target: Annotated[str, Field(pattern=r"^h[0-9]+$")] | None = None
    """Host that is probed; by default the one that most flows end at."""

    @abstractmethod
    def flow(self, source: str, destination: str, seed: int) -> Flow:
        """The probe's own flow, endless."""


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


PROBES: Final[dict[str, type[Probe]]] = {"write0": Write0}
