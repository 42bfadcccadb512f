"""What goes wrong on purpose: the faults that an experiment can name."""

from abc import ABC
from collections.abc import Collection, Sequence
from random import Random
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from rogue.workloads.specification import Delay, Rate, Size, Specification, Time, mistake, mistakes_at
from rogue.workloads.topologies.link import Link
from rogue.workloads.topologies.shortest_paths import dispensable
from rogue.workloads.topologies.topology import Topology
from rogue.workloads.traffic.pairs import HostName

IP_IDS: Final = 2**16
"""Values of the IP ID, the identification field of an IP header."""
FAILURES_MAX: Final = 10_000
"""Links that fail at random: each is looked at when its time comes."""


class Fault(Specification, ABC):
    """Something that goes wrong on purpose."""

    target: Annotated[str, Field(pattern=r"^[hs][0-9]+(-[hs][0-9]+)?$")]
    """A link, both directions of it: a host, such as h1, for its link, or two neighbours, such as s0-s1."""

    def link(self, topology: Topology) -> Link | None:
        """The link that is meant; None if the topology has none such."""
        first, _, second = self.target.partition("-")
        neighbours = topology.links_of.get(first, {})
        if second:
            return neighbours.get(second)
        return next(iter(neighbours.values())) if first in topology.host_names() else None

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has what is meant."""
        return self.link(topology) is not None

    def drawn(self, topology: Topology, stream: Random, struck: Collection[Link]) -> "Sequence[Fault]":
        """The faults that it stands for, where chance decides; other faults have cut the links `struck`."""
        return (self,)

    def changes(self) -> list[tuple[int, str]]:
        """When it begins and ends (ns), each with a word for the table of events."""
        return []

    def asked(self) -> str:
        """What does not fit where the fault is not there."""
        return f"the target {self.target}"

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        last = topology.links()[-1]
        return f"a host or two neighbours of the topology, such as {last.a}-{last.b}"


class HostFault(Fault, ABC):
    """Something that goes wrong at a host."""

    target: Annotated[str, Field(pattern=r"^h[0-9]+$")]
    """The host, such as h1."""

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        return f"a host of the topology, such as {topology.host_names()[-1]}"


class LinkCut(Fault):
    """A link that carries nothing for a while: what is on it is lost, what comes is dropped.

    With `reroute_after` switches find out and forward around it. They all do so at one instant; packets of a
    queue pair that takes one path keep the way that was theirs when they left, sprayed ones turn at the next
    switch. Where no way is left switches send as before. An outage that is shorter than `reroute_after` is
    never noticed. Ways around may go down and up again; with +pfc ports can then wait for each other in a
    loop. Outages of one link, with the same `reroute_after`, that adjoin or overlap are one, in events too.
    """

    kind: Literal["link_cut"] = "link_cut"
    at_ns: Delay
    """When it goes down."""
    duration_ns: Time
    """How long it is down."""
    reroute_after_ns: Delay | None = None
    """Switches leave it out so long after it went down, until so long after it is back; by default never."""
    one_way: bool = False
    """Whether only what goes from the first of `target` to the second is lost; of a host, what it sends."""

    @model_validator(mode="after")
    def _check_one_way(self) -> Self:
        if self.one_way and self.reroute_after_ns is not None:
            raise mistakes_at({"one_way": mistake("no reroute_after beside it", "leave one of them out")})
        return self

    def ends(self, link: Link) -> tuple[str, str]:
        """Of its link, from the first of `target` to the second where only that is lost."""
        is_back = self.one_way and self.target.partition("-")[0] == link.b
        return (link.b, link.a) if is_back else (link.a, link.b)

    @property
    def is_noticed(self) -> bool:
        """Whether switches forward around it."""
        return self.reroute_after_ns is not None and self.reroute_after_ns < self.duration_ns

    def changes(self) -> list[tuple[int, str]]:
        """When it goes down and is back, and when switches know."""
        end_ns = self.at_ns + self.duration_ns
        changes = [(self.at_ns, "link_cut"), (end_ns, "link_restored")]
        if self.reroute_after_ns is None or not self.is_noticed:
            return changes
        known = [(self.at_ns, "rerouted"), (end_ns, "routed_back")]
        return [*changes, *((t_ns + self.reroute_after_ns, event) for t_ns, event in known)]

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has what is meant: nothing leads around the link of a host."""
        link = self.link(topology)
        if link is None or self.reroute_after_ns is None:
            return link is not None
        return {link.a, link.b} <= set(topology.switch_names())

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        if self.reroute_after_ns is None:
            return super().expected_target(topology)
        between = _between_switches(topology)
        if not between:
            return "no reroute_after, for no switch has another one as its neighbour"
        return f"two switches that are neighbours, such as {between[-1].a}-{between[-1].b}, for reroute_after"


class LinkFailures(Fault):
    """Links between switches that go down at random, each once: which ones, the cell's seed decides.

    Each is a link cut of its own. All transports of a repetition meet the same failures, each repetition
    others. What is left joins all switches, also beside other faults that cut links, unless there are not
    enough other links to draw. Ways around are those of `link_cut`.
    """

    kind: Literal["link_failures"] = "link_failures"
    target: Annotated[str, Field(pattern=r"^(any|s[0-9]+)$")] = "any"
    """Links between any two switches, or those of one switch to others, such as s0."""
    links: Annotated[int, Field(ge=1, le=FAILURES_MAX)] = 1
    """How many go down."""
    at_ns: Delay
    """When they go down."""
    within_ns: Delay = 0
    """Each goes down at an instant of its own, up to so long after `at`."""
    duration_ns: Time
    """How long each is down."""
    reroute_after_ns: Delay | None = None
    """Of each of them, as of `link_cut`: how long switches take to know that it is down, or back."""

    def _is_meant(self, link: Link) -> bool:
        return self.target in ("any", link.a, link.b)

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has so many links between switches."""
        return sum(map(self._is_meant, _between_switches(topology))) >= self.links

    def drawn(self, topology: Topology, stream: Random, struck: Collection[Link]) -> Sequence[Fault]:
        """A cut of each link that was drawn, at first of links that no other fault has cut."""
        between = _between_switches(topology)
        links = [link for link in between if self._is_meant(link)]
        stream.shuffle(links)
        whole = [link for link in between if link not in struck]
        chosen = dispensable(whole, [link for link in links if link not in struck], self.links)
        chosen += [link for link in links if link in struck][: self.links - len(chosen)]
        return [
            LinkCut.model_construct(  # of values that were checked
                target=f"{link.a}-{link.b}",
                at_ns=self.at_ns + stream.randint(0, self.within_ns),
                duration_ns=self.duration_ns,
                reroute_after_ns=self.reroute_after_ns,
            )
            for link in chosen
        ]

    def asked(self) -> str:
        """What does not fit where there are not so many links."""
        return f"{self.links} links of {self.target}"

    def expected_target(self, topology: Topology) -> str:
        """What a target may be, and how many links there are."""
        there = sum(map(self._is_meant, _between_switches(topology)))
        whose = "between switches" if self.target == "any" else f"of {self.target} to other switches"
        return f"any or a switch as target, and at most {there} links, as there are {whose}"


class Loss(Fault):
    """A link that loses packets, each direction on its own.

    Model `independent`: each packet is lost with the same probability. `burst`: losses come in runs of
    geometric length. `identification`: every packet is lost whose IP ID has its lowest bits set,
    as a switch's filter does it; each NIC numbers its packets upwards.

    Source: RoGUE, section 5.2, for `identification`.
    """

    kind: Literal["loss"] = "loss"
    model: Literal["independent", "burst", "identification"] = "independent"
    """Which packets are lost."""
    one_in: Annotated[int, Field(ge=0, le=2**40)] | None = None
    """One packet in so many is lost, in the mean; 0: none."""
    probability: Annotated[float, Field(ge=0, lt=1)] | None = None
    """The same as a probability; either this or one_in."""
    burst_packets: Annotated[float, Field(gt=1, le=1_000_000)] = 8.0
    """Mean length of a run of losses, above 1; for `burst`."""
    from_ns: Delay = 0
    """When losses begin."""
    until_ns: Time | None = None
    """When losses end; by default never."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.one_in is None) == (self.probability is None):
            got = "neither" if self.one_in is None else "both"
            raise mistakes_at({"one_in": mistake("either one_in or probability", "write one", got)})
        if self.one_in == 1:
            raise mistakes_at({"one_in": mistake("0, or 2 and more", "to lose all of them, cut the link")})
        if self.until_ns is not None and self.until_ns <= self.from_ns:
            raise mistakes_at({"until": mistake("a time after from", "raise it")})
        if self.model == "identification" and not self._is_ip_id_mask():
            expected = f"one_in as a power of two up to {IP_IDS}, or 0"
            raise mistakes_at({"one_in": mistake(expected, "choose one, or another model")})
        if self.model == "burst" and self.burst_begins_probability >= 1:
            expected = f"runs longer than {self.mean_probability / (1 - self.mean_probability):g} packets"
            raise mistakes_at({"burst_packets": mistake(expected, "raise it, or lose fewer packets")})
        return self

    def _is_ip_id_mask(self) -> bool:
        one_in = self.one_in
        return one_in is not None and one_in <= IP_IDS and one_in & (one_in - 1) == 0

    def changes(self) -> list[tuple[int, str]]:
        """When losses begin and end."""
        if self.mean_probability == 0:
            return []
        end = [] if self.until_ns is None else [(self.until_ns, "loss_ends")]
        return [(self.from_ns, "loss_begins"), *end]

    @property
    def mean_probability(self) -> float:
        """Share of the packets that are lost."""
        if self.probability is not None:
            return self.probability
        return 1 / self.one_in if self.one_in else 0.0

    @property
    def burst_begins_probability(self) -> float:
        """Probability that a packet is the first of a run of losses, if the one before it was not lost.

        Runs of L packets and gaps of G: p = L / (L + G), so a gap ends with probability
        1 / G = p / ((1 - p) * L) at each packet.
        """
        return self.mean_probability / ((1 - self.mean_probability) * self.burst_packets)


class PauseStorm(HostFault):
    """A host's NIC breaks: it pauses its switch all the time, sends nothing else and takes nothing in.

    Under priority flow control whatever waits for that host then stands in the way of all others, and the
    pauses spread. `topology.pause_watchdog` sets watchdogs in the switches, `nic_watchdog` one in the NIC.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.3.
    """

    kind: Literal["pause_storm"] = "pause_storm"
    at_ns: Delay
    """When it begins."""
    duration_ns: Time
    """How long the NIC is broken."""
    nic_watchdog_ns: Time | None = None
    """A watchdog in the NIC ends the pauses after that time; the NIC stays broken."""

    def changes(self) -> list[tuple[int, str]]:
        """When the NIC breaks, and when it is whole again."""
        return [(self.at_ns, "pause_storm_begins"), (self.at_ns + self.duration_ns, "pause_storm_ends")]


class SlowReceiver(HostFault):
    """A host's NIC takes in only so many frame bytes per second, and pauses its switch when they pile up.

    So did NICs whose cache of page addresses was too small: the network is idle, and pauses spread in it.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.4.
    """

    kind: Literal["slow_receiver"] = "slow_receiver"
    rate_bps: Rate
    """What the NIC takes in."""
    at_ns: Delay = 0
    """When it begins."""
    duration_ns: Time | None = None
    """How long it lasts; by default to the end."""
    buffer_bytes: Size = 256_000
    """What the NIC holds; what comes beyond is lost."""
    xoff_bytes: Size = 128_000
    """With more than this waiting, the NIC pauses its switch."""
    xon_bytes: Size = 64_000
    """With no more than this waiting, the NIC lets its switch go on."""

    def changes(self) -> list[tuple[int, str]]:
        """When the NIC becomes slow, and when it ends."""
        end = [] if self.duration_ns is None else [(self.at_ns + self.duration_ns, "slow_receiver_ends")]
        return [(self.at_ns, "slow_receiver_begins"), *end]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.xon_bytes >= self.xoff_bytes:
            raise mistakes_at({"xon": mistake(f"less than xoff, {self.xoff_bytes} bytes", "lower it")})
        if self.xoff_bytes >= self.buffer_bytes:
            raise mistakes_at({"xoff": mistake(f"less than buffer, {self.buffer_bytes} bytes", "lower it")})
        return self


class Misrouting(Fault):
    """A switch sends what is for a host to a certain neighbour, from the beginning on.

    Packets that go in a loop then are dropped after `topology.ttl_hops` links; without it the loop is
    refused.
    """

    kind: Literal["misrouting"] = "misrouting"
    target: Annotated[str, Field(pattern=r"^s[0-9]+-[hs][0-9]+$")]
    """The switch and the neighbour that it sends to, such as s0-s1."""
    destination: HostName
    """Host whose packets go there."""

    @property
    def switch(self) -> str:
        """The switch that does so."""
        return self.target.partition("-")[0]

    def changes(self) -> list[tuple[int, str]]:
        """The fault is there from the beginning on."""
        return [(0, self.kind)]

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has what is meant."""
        hosts, neighbour = topology.host_names(), self.target.partition("-")[2]
        is_way = neighbour == self.destination or neighbour not in hosts
        return super().is_there(topology) and self.destination in hosts and is_way

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        return (
            "a switch and the neighbour that it sends to, such as s0-s1, which is no other host, and as"
            " destination a host of the topology"
        )


class Flooding(Fault):
    """A switch has forgotten where a host is, and sends copies of what is for it out of all other ports.

    So do switches that know the Ethernet address of a host, but not its port, for as long as it is dead.
    Receivers drop the copies. Under flow control copies let pauses wait for each other in a loop even where
    all routes go up and then down.

    Source: Guo et al., "RDMA over commodity Ethernet at scale", SIGCOMM 2016, section 4.2.
    """

    kind: Literal["flooding"] = "flooding"
    target: Annotated[str, Field(pattern=r"^s[0-9]+$")]
    """The switch."""
    destination: HostName
    """Host that it has forgotten."""

    @property
    def switch(self) -> str:
        """The switch that does so."""
        return self.target

    def changes(self) -> list[tuple[int, str]]:
        """The fault is there from the beginning on."""
        return [(0, self.kind)]

    def is_there(self, topology: Topology) -> bool:
        """Whether the topology has what is meant."""
        return self.target in topology.switch_names() and self.destination in topology.host_names()

    def expected_target(self, topology: Topology) -> str:
        """What a target may be."""
        return "a switch, such as s0, and as destination a host of the topology"


def _between_switches(topology: Topology) -> list[Link]:
    switches = set(topology.switch_names())
    return [link for link in topology.links() if {link.a, link.b} <= switches]


FAULTS: Final[dict[str, type[Fault]]] = {
    "link_cut": LinkCut,
    "link_failures": LinkFailures,
    "loss": Loss,
    "pause_storm": PauseStorm,
    "slow_receiver": SlowReceiver,
    "misrouting": Misrouting,
    "flooding": Flooding,
}
