"""Large and small transfers between random hosts, arriving whether or not the network keeps up."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from workloads.specification import Size, Time
from workloads.streams import random_stream
from workloads.topologies.topology import HOSTS_MAX, Placement
from workloads.traffic.workload import Arrival, Flow, Verb, Workload

SECOND_NS: Final = 1_000_000_000


class ManyPairs(Workload):
    """Every host sends large transfers to random hosts at random times, and now and then a small one.

    Large transfers of a host arrive as a Poisson process that fills `load` of its link's payload rate. After
    each `small_every`-th of them a small one arrives, uniformly between it and the next large one. Arrivals
    do not wait for completions. The transfers of two hosts share one connection per direction.

    Source: RoGUE, section 5.6 (Many pairs) and figure 15; when a small message is sent is not stated.
    """

    kind: Literal["many_pairs"] = "many_pairs"
    hosts: Annotated[int, Field(ge=2, le=HOSTS_MAX)] = 16
    """How many hosts take part."""
    load: Annotated[float, Field(gt=0, le=1)]
    """Large transfers' share of what a host's link can carry."""
    arrive_for_ns: Time
    """Transfers arrive for this long."""
    drain_for_ns: Time = SECOND_NS
    """How long transfers may still run after that; what is not done then stays unfinished."""
    size_bytes: Size = 1_000_000
    """Payload of a large transfer."""
    small_size_bytes: Size = 1_000
    """Payload of a small transfer."""
    small_every: Annotated[int, Field(ge=1)] = 10
    """How many large transfers there are for a small one."""
    verb: Verb = "write"
    """How the bytes are moved."""

    def hosts_min(self) -> int:
        """The hosts that take part."""
        return self.hosts

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow for each pair of hosts that has something to move."""
        hosts = placement.hosts[: self.hosts]
        mean_ns = self._mean_gap_ns(placement)
        flows = []
        for source in hosts:
            to: dict[str, list[Arrival]] = defaultdict(list)
            for destination, arrival in self._arrivals(source, hosts, mean_ns, seed):
                to[destination].append(arrival)
            flows += [self._flow(source, host, tuple(to[host])) for host in hosts if host in to]
        return tuple(flows)

    @property
    def is_drawn(self) -> bool:
        """Times and destinations."""
        return True

    def scheduled_transfers(self, placement: Placement) -> float:
        """The mean of what the hosts' processes bring, large and small."""
        large = self.hosts * self.arrive_for_ns / self._mean_gap_ns(placement)
        return large * (1 + 1 / self.small_every)

    def _mean_gap_ns(self, placement: Placement) -> float:
        """From one large arrival at a host to the next."""
        return self.size_bytes * 8 * SECOND_NS / (self.load * placement.goodput_bps)

    def _arrivals(
        self, source: str, hosts: tuple[str, ...], mean_ns: float, seed: int
    ) -> Iterator[tuple[str, Arrival]]:
        """What one host sends, by time."""
        gaps, destinations, small = (
            random_stream(seed, f"{purpose}/{source}") for purpose in ("gaps", "destinations", "small")
        )
        others = [host for host in hosts if host != source]
        now_ns, count = gaps.expovariate(1 / mean_ns), 0
        while now_ns < self.arrive_for_ns:
            yield destinations.choice(others), Arrival(int(now_ns), self.size_bytes)
            gap_ns = gaps.expovariate(1 / mean_ns)
            count += 1
            if count % self.small_every == 0:
                small_ns = int(now_ns + small.random() * gap_ns)
                yield destinations.choice(others), Arrival(small_ns, self.small_size_bytes)
            now_ns += gap_ns

    def _flow(self, source: str, destination: str, arrivals: tuple[Arrival, ...]) -> Flow:
        return Flow(
            source=source,
            destination=destination,
            verb=self.verb,
            size_bytes=arrivals[0].size_bytes,
            start_ns=arrivals[0].start_ns,
            count=len(arrivals),
            arrivals=arrivals,
        )

    @property
    def duration_ns(self) -> int:
        """`arrive_for` and `drain_for`: overload is a result, so nobody waits for the last transfer."""
        return self.arrive_for_ns + self.drain_for_ns
