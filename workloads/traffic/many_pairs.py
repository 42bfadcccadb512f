"""Large and small transfers between random hosts, which arrive even if the network is overloaded."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rogue.workloads.specification import Delay, Size, Time, mistake, mistakes_at
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import (
    Arrival,
    Flow,
    Predecessor,
    Verb,
    Workload,
    expected_pairs,
    flow_ends,
    uneven,
)

SECOND_NS: Final = 1_000_000_000


class ManyPairs(Workload):
    """Every host sends large transfers to random hosts at random times, and occasionally a small one.

    Large transfers of a host arrive as a Poisson process that fills `load` of its link's payload rate. After
    each `small_every`-th of them a small one arrives, uniformly between it and the next large one. By default
    arrivals do not wait for completions, and the transfers of two hosts share one connection per direction.

    Source: RoGUE, section 5.6 (Many pairs) and figure 15. The paper does not state when a small message is
    sent, over which connection, and whether a host waits for its last transfer: `loop` and `connections`
    offer the possibilities.
    """

    kind: Literal["many_pairs"] = "many_pairs"
    hosts: Annotated[int, Field(ge=2, le=HOSTS_MAX)] = 16
    """How many hosts take part."""
    load: Annotated[float, Field(gt=0, le=1)]
    """Large transfers' share of what a host's link can carry."""
    arrive_for_ns: Time
    """Transfers arrive for this long."""
    drain_for_ns: Time = SECOND_NS
    """How long transfers may still run after that; later ones stay unfinished."""
    ignore_for_ns: Delay = 0
    """Transfers that arrive before this warm connections up and do not count."""
    size_bytes: Size = 1_000_000
    """Payload of a large transfer."""
    small_size_bytes: Size = 1_000
    """Payload of a small transfer."""
    small_every: Annotated[int, Field(ge=1)] = 10
    """How many large transfers there are for a small one."""
    verb: Verb = "write"
    """How the bytes are moved."""
    loop: Literal["open", "closed", "thinking"] = "open"
    """Waiting of a host's transfer for the one before it.

    `open`: never; `closed`: until it is done; `thinking`: until its gap after that has passed.
    """
    connections: Literal["pair", "size", "transfer"] = "pair"
    """One connection per pair of hosts, per pair and size, or per transfer."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.ignore_for_ns >= self.arrive_for_ns:
            found = mistake("less than arrive_for", "let transfers arrive for longer")
            raise mistakes_at({"ignore_for": found})
        return self

    def hosts_min(self) -> int:
        return self.hosts

    def unfit(self, placement: Placement) -> PydanticCustomError | None:
        return uneven(placement)

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        hosts = placement.hosts[: self.hosts]
        mean_ns = self._mean_gap_ns(placement)
        flows = []
        for source in hosts:
            to: dict[str, dict[int, list[Arrival]]] = {host: defaultdict(list) for host in hosts}
            before: Predecessor | None = None
            for destination, arrival, gap_ns in self._arrivals(source, hosts, mean_ns, seed):
                number = self._number(to[destination], arrival)
                line = to[destination][number]
                since_ns = line[-1].start_ns if line else 0
                line.append(self._waiting(arrival, before, since_ns, gap_ns))
                before = Predecessor(flow_ends(source, destination, number), len(line) - 1)
            flows += [
                self._flow(source, host, number, tuple(line))
                for host in hosts
                for number, line in sorted(to[host].items())
            ]
        return tuple(flows)

    def _number(self, lines: Mapping[int, Sequence[Arrival]], arrival: Arrival) -> int:
        """Return the number of the connection that carries a transfer."""
        if self.connections == "transfer":
            return len(lines)
        return int(self.connections == "size" and arrival.size_bytes == self.small_size_bytes)

    def _waiting(self, arrival: Arrival, before: Predecessor | None, since_ns: int, gap_ns: int) -> Arrival:
        """Return the transfer with its predecessor according to `loop`."""
        if self.loop == "open" or before is None:
            return arrival
        if self.loop == "closed":
            return arrival._replace(after=(before,))
        return arrival._replace(start_ns=since_ns, after=(before._replace(pause_ns=gap_ns),))

    @property
    def is_drawn(self) -> bool:
        return True

    def scheduled_transfers(self, placement: Placement) -> float:
        large = self.hosts * self.arrive_for_ns / self._mean_gap_ns(placement)
        return large * (1 + 1 / self.small_every)

    def expected_connections(self, placement: Placement) -> float:
        transfers = self.scheduled_transfers(placement)
        if self.connections == "transfer":
            return transfers
        return expected_pairs(self.hosts * (self.hosts - 1), transfers)

    def drawn_ends(self, placement: Placement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return placement.hosts[: self.hosts], placement.hosts[: self.hosts]

    def _mean_gap_ns(self, placement: Placement) -> float:
        """Return the mean time from one large arrival at a host to the next."""
        return self.size_bytes * 8 * SECOND_NS / (self.load * placement.goodput_bps)

    def _arrivals(
        self, source: str, hosts: tuple[str, ...], mean_ns: float, seed: int
    ) -> Iterator[tuple[str, Arrival, int]]:
        """Yield the transfers of one host by time, each with the time since the one before."""
        gaps, destinations, small = (
            random_stream(seed, f"{purpose}/{source}") for purpose in ("gaps", "destinations", "small")
        )
        others = [host for host in hosts if host != source]
        now_ns, last_ns, count = gaps.expovariate(1 / mean_ns), 0, 0
        while now_ns < self.arrive_for_ns:
            yield destinations.choice(others), Arrival(int(now_ns), self.size_bytes), int(now_ns) - last_ns
            last_ns = int(now_ns)
            gap_ns = gaps.expovariate(1 / mean_ns)
            count += 1
            if count % self.small_every == 0:
                small_ns = int(now_ns + small.random() * gap_ns)
                yield (
                    destinations.choice(others),
                    Arrival(small_ns, self.small_size_bytes),
                    small_ns - last_ns,
                )
                last_ns = small_ns
            now_ns += gap_ns

    def _flow(self, source: str, destination: str, number: int, arrivals: tuple[Arrival, ...]) -> Flow:
        return Flow(
            source=source,
            destination=destination,
            verb=self.verb,
            size_bytes=arrivals[0].size_bytes,
            start_ns=arrivals[0].start_ns,
            count=len(arrivals),
            arrivals=arrivals,
            number=number,
        )

    @property
    def warm_up_ns(self) -> int:
        return self.ignore_for_ns

    @property
    def duration_ns(self) -> int:
        return self.arrive_for_ns + self.drain_for_ns

    @property
    def arriving_ns(self) -> int:
        return self.arrive_for_ns
