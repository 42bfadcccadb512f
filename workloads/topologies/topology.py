"""The base of topologies: hosts, switches and links."""

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
from rogue.workloads.topologies.graph import Link
from rogue.workloads.topologies.nic_file import NIC_OR_FILE, NicName, NicOfFile
from rogue.workloads.topologies.shortest_paths import PathShape, ShortestPaths
from rogue.workloads.units import RATE

HOSTS_MAX: Final = 65_536
"""A fat tree of switches with 64 ports."""

_NUMBERED: Final = re.compile(r"h[0-9]{1,9}")
_ABSENT_MAX: Final = 3
"""Missing numbers that are named; a file's numbers may leave out millions."""

HostCount = Annotated[int, Field(ge=2, le=HOSTS_MAX)]
Weight = Annotated[int, Field(ge=0, le=1000)]
Mtu = Literal[256, 512, 1024, 2048, 4096]
SwitchKind = Literal["shared", "voq"]


def numbered(letter: Literal["h", "s"], count: int) -> tuple[str, ...]:
    """Return the first names of hosts, h0, h1, ..., or of switches, s0, s1, ..."""
    return tuple(f"{letter}{index}" for index in range(count))


def check_host_count(hosts: int, key: str, advice: str) -> None:
    """Raise a mistake at a key if there are more hosts than any network may have."""
    if hosts > HOSTS_MAX:
        raise mistakes_at({key: mistake(f"at most {HOSTS_MAX} hosts", advice, f"{hosts} hosts")})


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch with one buffer for all its ports, or one for each of its links."""

    name: str
    buffer_bytes: int | None
    """None: unbounded."""
    alpha: float
    """A port may queue alpha times what is free in the buffer that they share."""
    kind: SwitchKind
    trim_above_bytes: int | None = None
    """Queue length above which payloads are cut off; None: never."""
    is_nic: bool = False
    """It models the ports of a host's NIC and only forwards packets."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The role of each host, unless a workload overrides it."""

    hosts: tuple[str, ...]
    """Hosts with traffic, in the order in which workloads use them."""
    receiver: str
    """Destination of workloads with one receiver."""
    goodput_bps: float
    """Payload rate of the receiver's link when every packet is full."""
    rate_bps: int
    """Rate of the receiver's link."""
    rates_bps: frozenset[int] = frozenset()
    """Rates of the links of all hosts with traffic."""
    probe: str | None = None
    """Host that probes and has no traffic."""

    @property
    def senders(self) -> tuple[str, ...]:
        """Return every host but the receiver."""
        return tuple(host for host in self.hosts if host != self.receiver)

    def advice_for(self, absent: str) -> str:
        """Return advice for a host without traffic: more hosts do not help if it is the one that probes."""
        return "leave the probe out" if absent == self.probe else "add hosts"

    @property
    def described(self) -> str:
        """Describe the hosts: `h0 to h9`, or `h0 to h9 without h8` where h8 probes.

        For the names of a plug-in, and for many gaps in the numbers of a file, it gives the number of hosts.
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
    nic: Annotated[NicName | NicOfFile | None, *NIC_OR_FILE] = None
    """NIC profile: cx3pro, cx4, ideal, soft_roce, or a file that `rogue conformance --write-profile` wrote.

    By default it is cx3pro up to 10 Gbps, and cx4 above.
    """
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
    """How switches store waiting packets: in a buffer that all ports share, or (`voq`) at the input.

    `voq` is input-queued, with virtual output queues that take turns.
    Source: Mittal et al., "Revisiting network support for RDMA", SIGCOMM 2018, section 4.1.
    """
    buffer_bytes: SizeOrUnbounded = 9_000_000
    """Buffer of each switch, or of each link with `switch: voq`; `unbounded` never drops."""
    alpha: Annotated[float, Field(gt=0, le=64)] = 1.0
    """A port may queue alpha times what is free in the shared buffer."""
    pause_alpha: Annotated[float, Field(gt=0, le=64)] = 1 / 16
    """With +pfc: a link is paused when its frames hold more than this multiple of the free buffer."""
    pause_xoff_bytes: Size | None = None
    """With +pfc, instead of pause_alpha: a fixed threshold."""
    pause_headroom_bytes: Size | None = None
    """With +pfc: room for frames that arrive over a paused link; by default computed from the link."""
    pause_watchdog_ns: Time | None = None
    """With +pfc: a port to a host drops its queue after it has been paused this long."""
    pause_watchdog_restore_ns: Time = 200_000_000
    """The watchdog lets a port send again when it has received no pause for this long."""
    trim_above_bytes: Size | None = None
    """Switches cut off the payload of a packet that makes its queue at a port longer than this.

    They cut only packets of transports with trimming. By default switches do not trim.
    """
    trim: Literal["arriving", "coin"] = "arriving"
    """Which packet a full queue cuts: the arriving one, or (`coin`) as often the newest in the queue.

    Source of the coin: Handley et al., SIGCOMM 2017, section 3.1 (NDP); also in uet-htsim.
    """
    weights: Annotated[tuple[Weight, ...], Field(max_length=8, strict=False)] = ()
    """Weights of priorities 0, 1 and so on: they share a port in proportion, after those with 0 or none.

    By default the largest priority goes first. Ports take turns by deficit round-robin, a frame at a time.
    Source: Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin", SIGCOMM 1995.
    """
    switch_controls: SwitchControls = ()
    """Plug-in parts of all switches: a name, a mapping with the name and parameters, or a list.

    At most one marks, drops or trims packets at ports, instead of the marking that a transport requests.
    At most one selects one of several equal ports. `none` means an empty list.
    """
    thresholds: Literal["bytes", "rate"] = "bytes"
    """Thresholds of trimming and marking: the same bytes at every port, or (`rate`) scaled by its rate.

    With `rate` the stated bytes apply to a port as fast as the fastest host.
    """
    ttl_hops: Annotated[int, Field(ge=1, le=255)] | None = None
    """Links that a packet may cross where a fault makes a loop; by default loops are refused."""

    @model_validator(mode="after")
    def _check_thresholds(self) -> Self:
        """Refuse shares of a shared buffer where each link has its own."""
        fields = type(self).model_fields
        shares = [] if self.switch == "shared" else ["alpha", "pause_alpha"]
        wrong = [name for name in shares if getattr(self, name) != fields[name].default]
        if self.weights and self.switch == "voq":
            found = mistake("none with switch: voq, whose inputs take turns", "remove them")
            raise mistakes_at({"weights": found})
        if wrong:
            found = mistake("nothing with switch: voq, whose links have separate buffers", "remove it")
            raise mistakes_at(dict.fromkeys(wrong, found))
        return self

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out cached properties: in a large network they take longer to send than to compute."""
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
        """Return every host, in the order in which workloads use them."""

    @abstractmethod
    def switch_names(self) -> tuple[str, ...]:
        """Return every switch."""

    @abstractmethod
    def links(self) -> tuple[Link, ...]:
        """Return every link."""

    def switches(self) -> tuple[Switch, ...]:
        """Return every switch with its buffer."""
        how = (self.buffer_bytes, self.alpha, self.switch, self.trim_above_bytes)
        return tuple(Switch(name, *how) for name in self.switch_names())

    def receiving_hosts(self) -> tuple[str, ...]:
        """Return the hosts of which the last one receives and the one before it probes."""
        return self.host_names()

    def probe_host(self) -> str:
        """Return the host that only probes if the experiment has a probe."""
        return self.receiving_hosts()[-2]

    def placement(self, *, has_probe: bool) -> Placement:
        """Return the role of each host; with a probe its host has no traffic."""
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
        """Return the packet overheads."""
        return FRAMINGS[self.framing]

    def host_links(self, hosts_per_switch: int, rate_bps: int) -> tuple[Link, ...]:
        """Return a link per host: the first `hosts_per_switch` hosts to s0, the next ones to s1 and so on."""
        return tuple(
            Link(host, f"s{index // hosts_per_switch}", rate_bps, self.delay_ns)
            for index, host in enumerate(self.host_names())
        )

    def nodes(self) -> tuple[str, ...]:
        """Return every host and switch."""
        return (*self.host_names(), *self.switch_names())

    def ports(self) -> tuple[str, ...]:
        """Return every port, as node->neighbour."""
        return tuple(port for link in self.links() for port in link.ports)

    @cached_property
    def links_of(self) -> dict[str, dict[str, Link]]:
        """Return the neighbours of each node, each with the link to it."""
        neighbours: dict[str, dict[str, Link]] = {}
        for link in self.links():
            neighbours.setdefault(link.a, {})[link.b] = link
            neighbours.setdefault(link.b, {})[link.a] = link
        return neighbours

    def host_rate_bps(self, host: str) -> int:
        """Return the rate of a host's link."""
        (link,) = self.links_of[host].values()
        return link.rate_bps

    @cached_property
    def host_rates_bps(self) -> tuple[int, ...]:
        """Return the distinct rates of hosts' links, in the order of the hosts."""
        return tuple(dict.fromkeys(map(self.host_rate_bps, self.host_names())))

    @property
    def host_rate_max_bps(self) -> int:
        """Return the rate of the fastest host's link."""
        return max(self.host_rates_bps)

    def nic_of(self, host: str) -> str:
        """Return the name of the host's NIC profile."""
        return (
            str(self.nic) if self.nic else ("cx3pro" if self.host_rate_bps(host) <= 10_000_000_000 else "cx4")
        )

    @cached_property
    def shortest_paths(self) -> ShortestPaths:
        """Return the shortest paths between its hosts."""
        return ShortestPaths(self.links_of)

    def path(self, source: str, destination: str) -> tuple[Link, ...]:
        """Return the links of the first shortest path."""
        return self.shortest_paths.first(source, destination)

    def path_shape(self, source: str, destination: str) -> PathShape:
        """Return rate and delay of each link of the first shortest path."""
        return self.shortest_paths.shape(source, destination)

    def path_rate_bps(self, path: PathShape) -> int:
        """Return the rate of one flow that has a path of this shape for itself."""
        return min(rate_bps for rate_bps, _ in path)

    def described(self) -> str:
        """Describe kind, size and rates in a line."""
        hosts, switches, links = len(self.host_names()), len(self.switch_names()), self.links()
        sizes = f"{hosts} hosts, {switches} switch{'es' if switches > 1 else ''}, {len(links)} links"
        rates = " and ".join(RATE.format(rate) for rate in sorted({link.rate_bps for link in links}))
        return f"{self.kind}: {sizes} at {rates}"
