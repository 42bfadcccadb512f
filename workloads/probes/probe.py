"""What every latency probe says."""

from abc import ABC, abstractmethod

from workloads.specification import Specification, Time
from workloads.traffic.workload import Flow


class Probe(Specification, ABC):
    """A small request sent again and again from a host that does nothing else."""

    interval_ns: Time
    """Time from one probe to the next."""

    @abstractmethod
    def flow(self, source: str, destination: str, seed: int) -> Flow:
        """The probe's own flow, endless."""
