"""What every topology says: its hosts, switches and links."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.framing import FRAMINGS, Framing
from rogue.workloads.specification import (
    Delay,
    Size,
    SizeOrUnbounded,
    Specification,
    Time,
    mistake,
    mistakes_at,
)
from rogue.workloads.switch_controls import SwitchControls, contradiction_of
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import PathShape, ShortestPaths
from rogue.workloads.units import RATE

HOSTS_MAX: Final = 65_536
"""A fat tree of switches with 64 ports."""

_NUMBERED: Final = re.compile(r"h[0-9]{1,9}")
_ABSENT_MAX: Final = 3
"""So many are named; a file's numbers may leave out millions."""

HostCount = Annotated[int, Field(ge=2, le=HOSTS_MAX)]
Weight = Annotated[int, Field(ge=0, le=1000)]
Mtu = Literal[256, 512, 1024, 2048, 4096]
SwitchKind = Literal["shared", "voq"]


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch with one buffer that all its ports share, or one for each of its links."""

    name: str
    buffer_bytes: int | None
    """None: unbounded."""
    alpha: float
    """A port may queue alpha times what is free in the buffer that they share."""
    kind: SwitchKind
    trim_above_bytes: int | None = None
    """What a queue may hold before payloads are cut off; None: they never are."""
    is_nic: bool = False
    """It stands for the ports of a host's NIC, and does nothing to packets but send them on."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Which host does what, unless a workload says otherwise."""

    hosts: tuple[str, ...]
    """Hosts that traffic may use, in the order in which a workload takes them."""
    receiver: str
    """Where traffic goes that has one destination."""
    goodput_bps: float
    """Payload rate of a receiver's link when every packet is full."""
    rate_bps: int
    """Rate of a receiver's link."""
    rates_bps: frozenset[int] = frozenset()
    """Rates of the links of all hosts that traffic may use."""
    probe: str | None = None
    """Host that probes, and has no traffic."""

    @property
    def senders(self) -> tuple[str, ...]:
        """Every host but the receiver."""
        return tuple(host for host in self.hosts if host != self.receiver)

    def advice_for(self, absent: str) -> str:
        """Return how a host may have traffic that may not: more hosts do not help the one that probes."""
        return "leave the probe out" if absent == self.probe else "add hosts"

    @property
    def described(self) -> str:
        """The hosts in words: `h0 to h9`, or `h0 to h9 without h8` where h8 probes.

        A network from a file may have other numbers, and one of a plug-in other names: then it says how many.
        """
        named = f"{self.hosts[0]} to {self.hosts[-1]}"
        if not all(_NUMBERED.fullmatch(host) for host in self.hosts):
            return f"{len(self.hosts)} from {named}"
        numbers = [int(host[1:]) for host in self.hosts]
        first, last = min(numbers), max(numbers)
        absent = last - first + 1 - len(numbers)
        if not absent:
            return f"h{first} to h{last}"
        if absent > _ABSENT_MAX:
            return f"{len(numbers)} from h{first} to h{last}"
        without = sorted({*range(first, last + 1)} - {*numbers})
        return f"h{first} to h{last} without {', '.join(map('h{}'.format, without))}"


class Topology(Specification, ABC):
    """Hosts are named h0, h1, ..., switches s0, s1, ..."""

    kind: str
    """Key in the registry."""
    mtu_bytes: Mtu = 1024
    """Path MTU: largest payload of a packet."""
    framing: Literal["rocev2", "ns3", "uec"] = "rocev2"
    """Which headers a packet carries."""
    nic: Literal["cx3pro", "cx4", "ideal", "soft_roce"] | None = None
    """NIC profile; by default cx3pro up to 10 Gbps and cx4 above."""
    nic_limiters: Annotated[int, Field(ge=1, le=7)] | None = None
    """Rate limiters for flows in each NIC, at which they take turns; by default as many as the NIC has."""
    delay_ns: Delay = 1_000
    """Propagation delay of every link, one way."""
    delay_spread_ns: Delay = 5
    """Each link is longer by up to this, drawn from the cell's seed: a metre of cable.

    Between equal links, senders that react to the same event meet at the switch at the same picosecond, and
    the order of ties decides whose packets are dropped.
    """
    switch: SwitchKind = "shared"
    """How switches store what waits: in a buffer that all ports share, or (`voq`) where it came in.

    `voq` is input-queued, with virtual output queues that take turns.
    Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, section 4.1.
    """
    buffer_bytes: SizeOrUnbounded = 9_000_000
    """Buffer of each switch, or of each link with `switch: voq`; `unbounded` never drops."""
    alpha: Annotated[float, Field(gt=0, le=64)] = 1.0
    """A port may queue alpha times what is free in the shared buffer."""
    pause_alpha: Annotated[float, Field(gt=0, le=64)] = 1 / 16
    """With +pfc: frames that came over a link may hold so many times what is free; then it is paused."""
    pause_xoff_bytes: Size | None = None
    """With +pfc, instead of pause_alpha: a fixed threshold."""
    pause_headroom_bytes: Size | None = None
    """With +pfc: room for what still comes over a paused link; by default it follows from the link."""
    pause_watchdog_ns: Time | None = None
    """With +pfc: a port to a host that has been paused for so long drops what waits for it."""
    pause_watchdog_restore_ns: Time = 200_000_000
    """The watchdog lets a port send again when nobody has paused the port for so long."""
    trim_above_bytes: Size | None = None
    """Switches cut the payload off a packet that makes the queue of its priority at a port longer than this.

    Only packets of transports that know trimming are cut. By default switches do not trim.
    """
    trim: Literal["arriving", "coin"] = "arriving"
    """Which packet a full queue cuts: the one that comes, or (`coin`) as often the newest that waits.

    Source of the coin: Handley et al., SIGCOMM 2017, section 3.1 (NDP); uet-htsim throws it as well.
    """
    weights: Annotated[tuple[Weight, ...], Field(max_length=8, strict=False)] = ()
    """Of priorities 0, 1 and so on: those with one share a port in proportion, after those with 0 or none.

    By default the largest priority goes first. Ports take turns by deficit round-robin, a frame at a time.
    Source: Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin", SIGCOMM 1995.
    """
    switch_controls: SwitchControls = ()
    """Parts of all switches that plug-ins bring: a name, a mapping with the name and parameters, or a list.

    At most one judges packets at ports, in the place of the marking that a transport asks for. At most one
    chooses among equal ports. `none` stands for an empty list.
    """
    thresholds: Literal["bytes", "rate"] = "bytes"
    """Where switches trim and mark: at the stated bytes at every port, or (`rate`) in proportion to its rate.

    The bytes are then those of a port as fast as the fastest host.
    """
    ttl_hops: Annotated[int, Field(ge=1, le=255)] | None = None
    """Links that a packet may take where a fault sends it in a loop; by default no loop is allowed."""

    @model_validator(mode="after")
    def _check_thresholds(self) -> Self:
        """A share of a buffer that nobody shares makes no sense."""
        fields = type(self).model_fields
        shares = [] if self.switch == "shared" else ["alpha", "pause_alpha"]
        wrong = [name for name in shares if getattr(self, name) != fields[name].default]
        if self.weights and self.switch == "voq":
            found = mistake("none with switch: voq, whose inputs take turns", "remove them")
            raise mistakes_at({"weights": found})
        if wrong:
            found = mistake("nothing with switch: voq, whose links have buffers of their own", "remove it")
            raise mistakes_at(dict.fromkeys(wrong, found))
        return self

    def __getstate__(self) -> dict[Any, Any]:
        """What was worked out is not sent to other processes: of a large network that takes longer."""
        state = super().__getstate__()
        own = {name: value for name, value in state["__dict__"].items() if name in type(self).model_fields}
        return {**state, "__dict__": own}

    @model_validator(mode="after")
    def _check_switch_controls(self) -> Self:
        expected = contradiction_of(self.switch_controls)
        if expected is None and self.trim_above_bytes is not None:
            names = [each.name for each in self.switch_controls if each.entry.trims]
            expected = f"no trim_above beside {names[0]}, which trims" if names else None
        if expected is not None:
            raise mistakes_at({"switch_controls": mistake(expected, "take one away")})
        return self

    @abstractmethod
    def host_names(self) -> tuple[str, ...]:
        """Every host, in the order in which a workload takes them."""

    @abstractmethod
    def switch_names(self) -> tuple[str, ...]:
        """Every switch."""

    @abstractmethod
    def links(self) -> tuple[Link, ...]:
        """Every link."""

    def switches(self) -> tuple[Switch, ...]:
        """Every switch with its buffer."""
        how = (self.buffer_bytes, self.alpha, self.switch, self.trim_above_bytes)
        return tuple(Switch(name, *how) for name in self.switch_names())

    def receiving_hosts(self) -> tuple[str, ...]:
        """Hosts among which the last one receives and the one before it probes."""
        return self.host_names()

    def probe_host(self) -> str:
        """Host that does nothing but probe, where there is a probe, which changes no receiver."""
        return self.receiving_hosts()[-2]

    def placement(self, *, has_probe: bool) -> Placement:
        """Who sends and who receives; with a probe its host takes no part."""
        probe = self.probe_host() if has_probe else None
        receiver = self.receiving_hosts()[-1]
        hosts = tuple(host for host in self.host_names() if host != probe)
        return Placement(
            hosts,
            receiver,
            float(self.host_rate_bps(receiver) * self.frames.payload_fraction(self.mtu_bytes)),
            self.host_rate_bps(receiver),
            frozenset(map(self.host_rate_bps, hosts)),
            probe,
        )

    @property
    def frames(self) -> Framing:
        """Sizes of the packets."""
        return FRAMINGS[self.framing]

    def nodes(self) -> tuple[str, ...]:
        """Every host and switch."""
        return (*self.host_names(), *self.switch_names())

    def ports(self) -> tuple[str, ...]:
        """Every port, as node->neighbour."""
        return tuple(port for link in self.links() for port in link.ports)

    @cached_property
    def links_of(self) -> dict[str, dict[str, Link]]:
        """Per node its neighbours, each with the link that leads there."""
        neighbours: dict[str, dict[str, Link]] = {}
        for link in self.links():
            neighbours.setdefault(link.a, {})[link.b] = link
            neighbours.setdefault(link.b, {})[link.a] = link
        return neighbours

    def host_rate_bps(self, host: str) -> int:
        """Rate of a host's link."""
        (link,) = self.links_of[host].values()
        return link.rate_bps

    @cached_property
    def host_rates_bps(self) -> tuple[int, ...]:
        """Every rate of a host's link, once, in the order of the hosts."""
        return tuple(dict.fromkeys(map(self.host_rate_bps, self.host_names())))

    @property
    def host_rate_max_bps(self) -> int:
        """Rate of the fastest host's link."""
        return max(self.host_rates_bps)

    def nic_of(self, host: str) -> str:
        """Name of the host's NIC profile."""
        return self.nic or ("cx3pro" if self.host_rate_bps(host) <= 10_000_000_000 else "cx4")

    @cached_property
    def shortest_paths(self) -> ShortestPaths:
        """Shortest paths between its hosts."""
        return ShortestPaths(self.links_of)

    def path(self, source: str, destination: str) -> tuple[Link, ...]:
        """Links from source to destination; of equally short paths the one whose links come first."""
        return self.shortest_paths.first(source, destination)

    def path_shape(self, source: str, destination: str) -> PathShape:
        """What that path is like: an empty network treats packets alike on all paths of one shape."""
        return self.shortest_paths.shape(source, destination)

    def path_rate_bps(self, path: PathShape) -> int:
        """Rate at which packets of one flow may follow each other over a path of that shape, or beside it."""
        return min(rate_bps for rate_bps, _ in path)

    def described(self) -> str:
        """What it is and how large, in a line."""
        hosts, switches, links = len(self.host_names()), len(self.switch_names()), self.links()
        sizes = f"{hosts} hosts, {switches} switch{'es' if switches > 1 else ''}, {len(links)} links"
        rates = " and ".join(RATE.format(rate) for rate in sorted({link.rate_bps for link in links}))
        return f"{self.kind}: {sizes} at {rates}"
