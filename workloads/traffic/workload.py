"""The base of workloads: their flows, and when they are over."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import expm1
from typing import ClassVar, Literal, NamedTuple

from pydantic_core import PydanticCustomError

from rogue.workloads.specification import Specification, mistake
from rogue.workloads.streams import START_JITTER_NS, start_jitter_ns
from rogue.workloads.topologies.topology import Placement

Verb = Literal["write", "read", "send"]
Pushed = Literal["write", "send"]
"""Verbs that the host posts from which the bytes come."""
Moment = Literal["start", "arrival", "end"]
"""Of a transfer: it may start, all of it is at its receiver, its initiator knows that it is done.

Only the initiator knows of the first and the last, and only the receiver of the second.
"""


def flow_ends(source: str, destination: str, number: int) -> str:
    """Return the name of a flow within its group."""
    return f"{source}->{destination}" + (f"#{number}" if number else "")


class Predecessor(NamedTuple):
    """A transfer that another one waits for; a failed one delays no other."""

    flow: str
    """`Flow.ends` of a flow of the same group."""
    number: int
    """Index of the flow's arrival, from 0."""
    moment: Moment = "end"
    """The moment that the other one waits for."""
    pause_ns: int = 0
    """Pause after that moment, such as for computing."""


class Arrival(NamedTuple):
    """A transfer that starts at its own time, whether or not those before it are done.

    With `after` it also waits for all of these. Transfers of one flow start in their order.
    """

    start_ns: int
    size_bytes: int
    after: tuple[Predecessor, ...] = ()


class ArrivalColumns(Sequence[Arrival]):
    """Arrivals that return their most used columns without an object per arrival."""

    __slots__ = ()

    @property
    @abstractmethod
    def sizes_bytes(self) -> list[int]:
        """Return the size of each."""

    @property
    @abstractmethod
    def starts_ns(self) -> list[int]:
        """Return the earliest start of each."""

    @property
    @abstractmethod
    def waiting(self) -> list[int]:
        """Return the indices of those that wait for another transfer."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A sequence of transfers from one host to another.

    With `arrivals` or `interval_ns` each starts at its own time (open loop); otherwise each starts when the
    one before is done (closed loop).
    """

    source: str
    """Host whose memory the bytes come from."""
    destination: str
    """Host whose memory the bytes go to."""
    verb: Verb
    size_bytes: int
    """Payload of each transfer; with arrivals, of the first one."""
    start_ns: int
    """Start of the first transfer."""
    count: int | None = 1
    """How many transfers; None: no limit but time."""
    repeat_until_ns: int | None = None
    """No transfer starts at or after this instant; None: no limit but the count."""
    interval_ns: int | None = None
    """Open loop: a transfer at each point of this grid, counted from `start_ns`; None: back to back."""
    verb_bytes: int | None = None
    """The application posts each transfer as verbs of this size; None: as one verb."""
    arrivals: tuple[Arrival, ...] | ArrivalColumns = ()
    """Open loop: every transfer, in the order in which they start."""
    number: int = 0
    """Number of the flow among those of a group between these two hosts."""
    group: str | None = None
    """A part of the traffic group that results report separately."""

    @property
    def ends(self) -> str:
        """Return source and destination, and the number from the second flow between them on."""
        return flow_ends(self.source, self.destination, self.number)

    def with_start_jitter(self, seed: int, most_ns: int = START_JITTER_NS) -> "Flow":
        """Return the flow with a start that the seed delays."""
        return replace(self, start_ns=self.start_ns + start_jitter_ns(seed, self.ends, most_ns))

    def group_in(self, group: str) -> str:
        """Return the traffic group and the part of it."""
        return group if self.group is None else f"{group}.{self.group}"

    def name_in(self, group: str) -> str:
        """Return group and ends."""
        return f"{self.group_in(group)}/{self.ends}"

    @property
    def initiator(self) -> str:
        """Return the host that posts the verbs."""
        return self.destination if self.verb == "read" else self.source

    @property
    def responder(self) -> str:
        """Return the other host."""
        return self.source if self.verb == "read" else self.destination

    @property
    def finite_bytes(self) -> int:
        """Return the payload of all transfers; 0 where only time ends them."""
        if self.arrivals:
            return sum(self.arrived_sizes_bytes)
        return self.size_bytes * (self.count or 0)

    @property
    def arrived_sizes_bytes(self) -> list[int]:
        """Return the size of each of its arrivals."""
        if isinstance(self.arrivals, tuple):
            return [arrival.size_bytes for arrival in self.arrivals]
        return self.arrivals.sizes_bytes

    @property
    def arrived_starts_ns(self) -> list[int]:
        """Return the start of each of its arrivals."""
        if isinstance(self.arrivals, tuple):
            return [arrival.start_ns for arrival in self.arrivals]
        return self.arrivals.starts_ns

    @property
    def waiting(self) -> list[int]:
        """Return the indices of its arrivals that wait for another transfer."""
        if isinstance(self.arrivals, tuple):
            return [number for number, arrival in enumerate(self.arrivals) if arrival.after]
        return self.arrivals.waiting


class Workload(Specification, ABC):
    """A pattern of flows over the hosts of a network."""

    is_probing: ClassVar[bool] = False
    """Its transfers measure latency: they are rows of that table instead of flows."""
    is_whole: ClassVar[bool] = False
    """Its transfers are one operation, which is over when the last of them has arrived."""

    @abstractmethod
    def hosts_min(self) -> int:
        """Return the number of hosts that it needs."""

    def unfit(self, placement: Placement) -> PydanticCustomError | None:
        """Return why it does not fit a network's hosts; None if it does."""
        return None

    @abstractmethod
    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """Return the flows; the same placement and seed give the same flows."""

    def scheduled_transfers(self, placement: Placement) -> float:
        """Return about how many transfers start by the clock, independent of earlier ones."""
        return 0.0

    def expected_connections(self, placement: Placement) -> float:
        """Return about how many flows there are without drawing them; 0 if that is unknown."""
        return 0.0

    @property
    def bus_bytes(self) -> float | None:
        """Return the bytes of a rank of a collective operation that count for bus bandwidth."""
        return None

    @property
    def is_drawn(self) -> bool:
        """True if the seed decides more than the starts of transfers, such as pairs or sizes."""
        return False

    def drawn_ends(self, placement: Placement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return sources and destinations from which the seed draws pairs, all with equal probability."""
        return placement.hosts, placement.hosts

    @property
    def warm_up_ns(self) -> int:
        """Return the time before which transfers do not count in the results."""
        return 0

    @property
    def duration_ns(self) -> int | None:
        """Return when it stops, counted from the start of the run; None: when every transfer is done."""
        return None

    @property
    def arriving_ns(self) -> int | None:
        """Return when the last transfer starts, if the clock starts them and they drain afterwards."""
        return None


def expected_pairs(pairs: int, transfers: float) -> float:
    """Return the expected number of pairs with a transfer if all pairs are equally likely."""
    return -pairs * expm1(-transfers / pairs)


def uneven(placement: Placement) -> PydanticCustomError | None:
    """Return a mistake if hosts have several rates: `load` is a share of one rate."""
    if len(placement.rates_bps) <= 1:
        return None
    rates = " and ".join(f"{rate / 1e9:g}" for rate in sorted(placement.rates_bps))
    expected = f"hosts with links of one rate, of which load is a share; there are {rates} Gb/s"
    return mistake(expected, "give all links of hosts one rate, or use a trace")
