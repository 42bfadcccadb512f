"""Transfers of many sizes between random hosts, which arrive even if the network is overloaded."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from rogue.workloads.files import from_file
from rogue.workloads.flow_sizes import FLOW_SIZES, FlowSizes, SizesOfFile
from rogue.workloads.printable import did_you_mean
from rogue.workloads.specification import Delay, Size, Specification, Time, mistake, mistakes_at
from rogue.workloads.streams import random_stream
from rogue.workloads.topologies.topology import HOSTS_MAX, Placement
from rogue.workloads.traffic.workload import Arrival, Flow, Verb, Workload, expected_pairs, uneven

SECOND_NS = 1_000_000_000


class SizesFile(Specification):
    """A distribution from a file."""

    file: Annotated[SizesOfFile, *from_file(SizesOfFile, "a file of sizes and shares")]


def _known(value: object, info: ValidationInfo) -> "str | SizesFile":
    if isinstance(value, SizesFile):
        return value
    if isinstance(value, dict):
        return SizesFile.model_validate(value, context=info.context)
    if not isinstance(value, str) or value not in FLOW_SIZES:
        expected = f"one of the distributions {', '.join(FLOW_SIZES)}, or {{file: sizes.csv}}"
        raise mistake(expected, did_you_mean(value, FLOW_SIZES))
    return value


def _written(sizes: object) -> object:
    return {"file": str(sizes.file)} if isinstance(sizes, SizesFile) else sizes


Sizes = Annotated[
    str | SizesFile, PlainValidator(_known), PlainSerializer(_written), WithJsonSchema({"type": "string"})
]


class Poisson(Workload):
    """Every host sends transfers to random hosts at random times; sizes are drawn from a distribution.

    Payload arrives at `load` of the link rate. Each transfer has its own connection, or the transfers of two
    hosts share one per direction and wait for each other.

    Source: IRN (SIGCOMM 2018), section 4.1. Deviation: the paper does not define its load of 70 %; here it is
    payload over link rate.
    """

    kind: Literal["poisson"] = "poisson"
    load: Annotated[float, Field(gt=0, le=1)]
    """Payload that a host sends, as a share of the rate of its link."""
    sizes: Sizes | None = None
    """Distribution of the sizes: irn, web_search or fb_hadoop, or a file, `{file: sizes.csv}`."""
    size_bytes: Size | None = None
    """Instead: all transfers have this size."""
    arrive_for_ns: Time
    """Transfers arrive for this long."""
    drain_for_ns: Delay = SECOND_NS
    """How long transfers may still run after that; later ones stay unfinished."""
    ignore_for_ns: Delay = 0
    """Transfers that arrive before this warm the network up and do not count."""
    hosts: Annotated[int, Field(ge=2, le=HOSTS_MAX)] | None = None
    """How many hosts take part; by default all."""
    receivers: Annotated[int, Field(ge=1, le=HOSTS_MAX)] | None = None
    """How many of the last hosts only receive, while the others only send; by default all do both."""
    connection: Literal["per_transfer", "per_pair"] = "per_transfer"
    """One connection per transfer or per pair of hosts."""
    verb: Verb = "write"
    """How the bytes are moved."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.sizes is None) == (self.size_bytes is None):
            got = "none" if self.sizes is None else "both"
            raise mistakes_at({"sizes": mistake("either sizes or size", "write one", got)})
        if self.ignore_for_ns >= self.arrive_for_ns:
            found = mistake("less than arrive_for", "let transfers arrive for longer")
            raise mistakes_at({"ignore_for": found})
        return self

    def hosts_min(self) -> int:
        return self.hosts or (self.receivers or 1) + 1

    def unfit(self, placement: Placement) -> PydanticCustomError | None:
        return uneven(placement)

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        receivers = self._receivers(placement)
        mean_ns = self._mean_gap_ns(placement)
        flows: list[Flow] = []
        for source in self._senders(placement):
            to: dict[str, list[Arrival]] = defaultdict(list)
            others = [host for host in receivers if host != source]
            for destination, arrival in self._arrivals(source, others, mean_ns, seed):
                to[destination].append(arrival)
            for host in receivers:
                flows += self._flows_between(source, host, to[host]) if host in to else ()
        return tuple(flows)

    @property
    def is_drawn(self) -> bool:
        return True

    def scheduled_transfers(self, placement: Placement) -> float:
        return len(self._senders(placement)) * self.arrive_for_ns / self._mean_gap_ns(placement)

    def expected_connections(self, placement: Placement) -> float:
        transfers = self.scheduled_transfers(placement)
        if self.connection == "per_transfer":
            return transfers
        senders, receivers = self.drawn_ends(placement)
        pairs = len(senders) * (len(receivers) - (self.receivers is None))
        return expected_pairs(pairs, transfers)

    def drawn_ends(self, placement: Placement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self._senders(placement), self._receivers(placement)

    def _receivers(self, placement: Placement) -> tuple[str, ...]:
        hosts = placement.hosts[: self.hosts]
        return hosts if self.receivers is None else hosts[-self.receivers :]

    def _senders(self, placement: Placement) -> tuple[str, ...]:
        hosts = placement.hosts[: self.hosts]
        return hosts if self.receivers is None else hosts[: -self.receivers]

    def _mean_gap_ns(self, placement: Placement) -> float:
        """Return the mean time from one arrival at a sender to the next."""
        return self._mean_bytes * 8 * SECOND_NS / (self.load * placement.rate_bps)

    @property
    def _mean_bytes(self) -> float:
        if self._distribution is not None:
            return self._distribution.mean_bytes
        assert self.size_bytes is not None, "checked when it was read"
        return self.size_bytes

    @property
    def _distribution(self) -> FlowSizes | None:
        if isinstance(self.sizes, SizesFile):
            return self.sizes.file.sizes
        return None if self.sizes is None else FLOW_SIZES[self.sizes]

    def _arrivals(
        self, source: str, others: list[str], mean_ns: float, seed: int
    ) -> Iterator[tuple[str, Arrival]]:
        """Yield destination and transfer by time for one host."""
        gaps, destinations, sizes = (
            random_stream(seed, f"{purpose}/{source}") for purpose in ("gaps", "destinations", "sizes")
        )
        distribution = self._distribution
        now_ns = gaps.expovariate(1 / mean_ns)
        while now_ns < self.arrive_for_ns:
            size_bytes = distribution.sample(sizes) if distribution else self.size_bytes or 0
            yield destinations.choice(others), Arrival(int(now_ns), size_bytes)
            now_ns += gaps.expovariate(1 / mean_ns)

    def _flows_between(self, source: str, destination: str, arrivals: list[Arrival]) -> list[Flow]:
        groups = [[each] for each in arrivals] if self.connection == "per_transfer" else [arrivals]
        return [
            Flow(
                source=source,
                destination=destination,
                verb=self.verb,
                size_bytes=group[0].size_bytes,
                start_ns=group[0].start_ns,
                count=len(group),
                arrivals=tuple(group) if len(group) > 1 else (),
                number=number,
            )
            for number, group in enumerate(groups)
        ]

    @property
    def warm_up_ns(self) -> int:
        return self.ignore_for_ns

    @property
    def duration_ns(self) -> int:
        return self.arrive_for_ns + self.drain_for_ns

    @property
    def arriving_ns(self) -> int:
        return self.arrive_for_ns
