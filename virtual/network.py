"""The experiment network that machines emulate: hosts, switches, and the cables between them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rogue.virtual.errors import VirtualTestbedError

EXPERIMENT_MTU_BYTES: Final = 4300  # leaves room for the InfiniBand MTU 4096 that soft-RoCE then takes
EXPERIMENT_NETWORK: Final = "10.9.0.0"
PREFIX_LENGTH: Final = 24
HOSTS_MAX: Final = 24  # each takes one of the 32 PCI slots of the machine that switches
_FIRST_HOST_NUMBER: Final = 10
_NODE_NAME: Final = re.compile(r"[a-z][a-z0-9]{0,5}")  # two of them and a dash name a network interface


@dataclass(frozen=True, slots=True)
class BridgePort:
    """The port of a switch to ``peer``, a host or another switch."""

    bridge: str
    interface: str
    peer: str


@dataclass(frozen=True, slots=True)
class VirtualNetwork:
    """Hosts with one cable each and switches that form a tree; use `network`, which checks it."""

    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    cables: tuple[tuple[str, str], ...]

    @property
    def trunks(self) -> tuple[tuple[str, str], ...]:
        """Return the cables between switches."""
        return tuple(cable for cable in self.cables if set(cable) <= set(self.switches))

    def switch_of(self, host: str) -> str:
        """Return the switch at the other end of the host's cable."""
        (cable,) = (cable for cable in self.cables if host in cable)
        return cable[1] if cable[0] == host else cable[0]

    def address(self, host: str) -> str:
        """Return the host's address on the experiment network, without prefix length."""
        return f"{EXPERIMENT_NETWORK.removesuffix('0')}{_FIRST_HOST_NUMBER + self.hosts.index(host)}"

    def ports(self) -> tuple[BridgePort, ...]:
        """Return the ports of all switches: NIC number n of the switching machine leads to the n-th host."""
        to_hosts = [
            BridgePort(self.switch_of(host), f"eth{number}", host)
            for number, host in enumerate(self.hosts, start=1)
        ]
        between = [
            BridgePort(here, f"{here}-{there}", there)
            for a, b in self.trunks
            for here, there in ((a, b), (b, a))
        ]
        return (*to_hosts, *between)


def network(
    hosts: Sequence[str], switches: Sequence[str], cables: Sequence[tuple[str, str]]
) -> VirtualNetwork:
    """Check a network and return it; raises VirtualTestbedError if machines cannot emulate it."""
    nodes = [*hosts, *switches]
    for name in nodes:
        if not _NODE_NAME.fullmatch(name):
            raise _refusal(f"the name {name!r}", "a letter and up to five letters or digits, like h0")
    if len(set(nodes)) != len(nodes):
        raise _refusal(f"the names {', '.join(nodes)}", "each name once")
    if not 1 <= len(hosts) <= HOSTS_MAX:
        raise _refusal(f"{len(hosts)} hosts", f"1 to {HOSTS_MAX}, the most NICs of the switching machine")
    made = VirtualNetwork(tuple(hosts), tuple(switches), tuple(cables))
    _check_cables(made)
    return made


def _check_cables(made: VirtualNetwork) -> None:
    """Check that each host has one cable, to a switch, and that there is no loop (bridges without STP)."""
    for host in made.hosts:
        peers = [b if a == host else a for a, b in made.cables if host in (a, b)]
        if len(peers) != 1 or peers[0] not in made.switches:
            raise _refusal(f"{host} with cables to {', '.join(peers) or 'nothing'}", "one cable, to a switch")
    reached = {made.switches[0]}
    left = list(made.cables)
    while cable := next((each for each in left if reached & set(each)), None):
        left.remove(cable)
        if set(cable) <= reached:
            raise _refusal(
                f"a loop through the cable {cable[0]}-{cable[1]}", "one path between any two nodes"
            )
        reached |= set(cable)
    if unreached := [name for name in (*made.hosts, *made.switches) if name not in reached]:
        raise _refusal(f"no path to {', '.join(unreached)}", "all nodes joined")


def _refusal(got: str, expected: str) -> VirtualTestbedError:
    return VirtualTestbedError(
        f"network of virtual machines: got {got}, expected {expected}; choose another topology"
    )
