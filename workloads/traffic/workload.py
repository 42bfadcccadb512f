"""What every workload says: which flows it is made of and when it is over."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1
from typing import ClassVar, Literal, NamedTuple

from pydantic_core import PydanticCustomError

from rogue.workloads.specification import Specification, mistake
from rogue.workloads.topologies.topology import Placement

Verb = Literal["write", "read", "send"]
Pushed = Literal["write", "send"]
"""Verbs that the host posts from which the bytes come."""
Moment = Literal["start", "arrival", "end"]
"""Of a transfer: when it may start, when all of it is at its receiver, when its initiator knows that it is
done. A host can only know of the first and the last if it is the initiator, of the second if it receives."""


def flow_ends(source: str, destination: str, number: int) -> str:
    """How a flow is called within its group."""
    return f"{source}->{destination}" + (f"#{number}" if number else "")


class Predecessor(NamedTuple):
    """A transfer that another one waits for; a failed one holds up none."""

    flow: str
    """`Flow.ends` of a flow of the same group."""
    number: int
    """Which of the flow's arrivals, from 0."""
    moment: Moment = "end"
    """What of it is waited for."""
    pause_ns: int = 0
    """From that moment on, such as for computing."""


class Arrival(NamedTuple):
    """A transfer that starts at its own time, whether or not those before it are done.

    With `after` it also waits for all of these. Transfers of one flow start in their order.
    """

    start_ns: int
    size_bytes: int
    after: tuple[Predecessor, ...] = ()


class ArrivalColumns(Sequence[Arrival]):
    """Arrivals that can say of all of them what is most often asked, without an object of each."""

    __slots__ = ()

    @property
    @abstractmethod
    def sizes_bytes(self) -> list[int]:
        """The size of each."""

    @property
    @abstractmethod
    def starts_ns(self) -> list[int]:
        """The instant before which each does not start."""

    @property
    @abstractmethod
    def waiting(self) -> list[int]:
        """The numbers of those that wait for another transfer."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A sequence of transfers from one host to another.

    With `arrivals` or `interval_ns` each starts at its own time (open loop); without, the next one starts
    when the one before is done (closed loop).
    """

    source: str
    """Host whose memory the bytes come from."""
    destination: str
    """Host whose memory the bytes go to."""
    verb: Verb
    size_bytes: int
    """Payload of each transfer; with arrivals of the first one."""
    start_ns: int
    """When the first transfer is asked for."""
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
    """Which of a group's flows between these two hosts."""
    group: str | None = None
    """A part of the traffic group that results tell apart from its others."""

    @property
    def ends(self) -> str:
        """Source and destination; from the second flow between them on also its number."""
        return flow_ends(self.source, self.destination, self.number)

    def group_in(self, group: str) -> str:
        """The traffic group, and the part of it."""
        return group if self.group is None else f"{group}.{self.group}"

    def name_in(self, group: str) -> str:
        """Group and ends."""
        return f"{self.group_in(group)}/{self.ends}"

    @property
    def initiator(self) -> str:
        """Host that posts the verbs."""
        return self.destination if self.verb == "read" else self.source

    @property
    def responder(self) -> str:
        """The other host."""
        return self.source if self.verb == "read" else self.destination

    @property
    def finite_bytes(self) -> int:
        """Payload of all transfers; 0 where only time ends them."""
        if self.arrivals:
            return sum(self.arrived_sizes_bytes)
        return self.size_bytes * (self.count or 0)

    @property
    def arrived_sizes_bytes(self) -> list[int]:
        """The size of each of its arrivals."""
        if isinstance(self.arrivals, tuple):
            return [arrival.size_bytes for arrival in self.arrivals]
        return self.arrivals.sizes_bytes

    @property
    def arrived_starts_ns(self) -> list[int]:
        """The start of each of its arrivals."""
        if isinstance(self.arrivals, tuple):
            return [arrival.start_ns for arrival in self.arrivals]
        return self.arrivals.starts_ns

    @property
    def waiting(self) -> list[int]:
        """The numbers of its arrivals that wait for another transfer."""
        if isinstance(self.arrivals, tuple):
            return [number for number, arrival in enumerate(self.arrivals) if arrival.after]
        return self.arrivals.waiting


class Workload(Specification, ABC):
    """A pattern of flows over the hosts of a network."""

    is_probing: ClassVar[bool] = False
    """Its transfers measure latency: they stand in that table instead of among the flows."""
    is_whole: ClassVar[bool] = False
    """Its transfers are one operation, which is over when the last of them has arrived."""

    @abstractmethod
    def hosts_min(self) -> int:
        """How many hosts it needs."""

    def unfit(self, placement: Placement) -> PydanticCustomError | None:
        """What of it a network's hosts cannot do; None if nothing."""
        return None

    @abstractmethod
    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """The flows; the same placement and seed give the same flows."""

    def scheduled_transfers(self, placement: Placement) -> float:
        """About how many transfers start by the clock, whatever has become of those before them."""
        return 0.0

    def expected_connections(self, placement: Placement) -> float:
        """Return about how many flows there are, without drawing them; 0 where only drawing tells."""
        return 0.0

    @property
    def bus_bytes(self) -> float | None:
        """The least bytes that a rank of a collective operation moves, which bus bandwidth counts."""
        return None

    @property
    def is_drawn(self) -> bool:
        """Whether the seed decides pairs or sizes of transfers, not their starts alone."""
        return False

    def drawn_ends(self, placement: Placement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Sources and destinations that the seed chooses from, each pair of them as likely as the others."""
        return placement.hosts, placement.hosts

    @property
    def warm_up_ns(self) -> int:
        """What starts before this counts for nothing in the results."""
        return 0

    @property
    @abstractmethod
    def duration_ns(self) -> int | None:
        """When it stops, counted from the start of the run; None: when every transfer is done."""

    @property
    def arriving_ns(self) -> int | None:
        """When the last transfer has started, where the clock starts them and they drain; or None."""
        return None


def expected_pairs(pairs: int, transfers: float) -> float:
    """Return how many of the pairs of hosts have a transfer, if each transfer is equally likely in all."""
    return -pairs * expm1(-transfers / pairs)


def uneven(placement: Placement) -> PydanticCustomError | None:
    """Why a load, which is a share of a host's rate, means nothing where hosts have several; None if not."""
    if len(placement.rates_bps) <= 1:
        return None
    rates = " and ".join(f"{rate / 1e9:g}" for rate in sorted(placement.rates_bps))
    expected = f"hosts with links of one rate, of which load is a share; there are {rates} Gb/s"
    return mistake(expected, "give all links of hosts one rate, or say who sends when with a trace")
