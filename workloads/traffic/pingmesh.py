"""Continuous small requests between many hosts, to measure latency."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from rogue.workloads.specification import FromList, Size, Time
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Flow, Verb, Workload

Place = Annotated[int, Field(ge=1, lt=HOSTS_MAX)]


class Pingmesh(Workload):
    """Every host sends requests to a few others continuously, each over its own connection.

    `places` has the distances of these hosts in the list of hosts. Hosts are listed rack by rack: a distance
    of one is a host in the same rack, a rack's size is a host in the next rack, and half of all hosts is a
    host in the other podset. Hosts send requests at fixed intervals, whether or not earlier ones are back. A
    group of pings has its own transport and priority.

    Source: Guo et al., SIGCOMM 2016, sections 5 and 6: 512 bytes. Deviation: the interval is not stated.
    """

    is_probing: ClassVar[bool] = True

    kind: Literal["pingmesh"] = "pingmesh"
    run_for_ns: Time
    """How long."""
    interval_ns: Time = 1_000_000
    """Time from one request of a connection to the next."""
    size_bytes: Size = 512
    """Payload of a request."""
    places: Annotated[tuple[Place, ...], FromList, Field(min_length=1, max_length=64)]
    """Destinations of a host: their distances after it in the list of hosts."""
    probers: Annotated[int, Field(ge=1, le=HOSTS_MAX)] | None = None
    """How many hosts send requests; by default all."""
    verb: Verb = "write"
    """How the bytes are moved."""

    def hosts_min(self) -> int:
        return max(max(self.places) + 1, self.probers or 1)

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        hosts = placement.hosts
        flows = []
        for index, source in enumerate(hosts[: self.probers]):
            for place in dict.fromkeys(self.places):
                destination = hosts[(index + place) % len(hosts)]
                jitter_ns = start_jitter_ns(seed, f"ping/{source}->{destination}", self.interval_ns)
                flows.append(
                    Flow(
                        source=source,
                        destination=destination,
                        verb=self.verb,
                        size_bytes=self.size_bytes,
                        start_ns=jitter_ns,
                        count=None,
                        repeat_until_ns=self.run_for_ns,
                        interval_ns=self.interval_ns,
                    )
                )
        return tuple(flows)

    def scheduled_transfers(self, placement: Placement) -> float:
        return self.expected_connections(placement) * self.run_for_ns / self.interval_ns

    def expected_connections(self, placement: Placement) -> float:
        return len(placement.hosts[: self.probers]) * len(set(self.places))

    @property
    def duration_ns(self) -> int:
        return self.run_for_ns
