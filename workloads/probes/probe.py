"""What every latency probe says."""

from abc import ABC, abstractmethod
from typing import Annotated

from pydantic import Field

from workloads.specification import Specification, Time
from workloads.traffic.workload import Flow


class Probe(Specification, ABC):
    """A small request sent again and again from a host that does nothing else."""

    interval_ns: Time
    """Time from one probe to the next."""
    target: Annotated[str, Field(pattern=r"^h[0-9]+$")] | None = None
    """Host that is probed; by default the one that most flows end at."""

    @abstractmethod
    def flow(self, source: str, destination: str, seed: int) -> Flow:
        """The probe's own flow, endless."""
