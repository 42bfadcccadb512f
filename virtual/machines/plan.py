"""Which machines a testbed has and how their experiment links run, before anything is started."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rogue.virtual.network import EXPERIMENT_MTU_BYTES, PREFIX_LENGTH, VirtualNetwork

SWITCHING_MACHINE: Final = "fabric"
_MEMORY_MIB: Final = 384


@dataclass(frozen=True, slots=True)
class Link:
    """One end of a cable: the socket it listens on, the peer's socket, what its interface is for."""

    socket_name: str
    peer_socket_name: str
    mac: str
    address: str = ""
    """With prefix length; empty: none."""
    bridge: str = ""
    """The bridge that it is a port of; empty: none."""
    soft_roce: bool = False
    """Whether the machine boots with a soft-RoCE device on it."""
    mtu_bytes: int = EXPERIMENT_MTU_BYTES


@dataclass(frozen=True, slots=True)
class MachinePlan:
    """One machine: its name, its experiment links, the bridges inside it and what joins them, its memory."""

    name: str
    links: tuple[Link, ...]
    bridges: tuple[str, ...] = ()
    trunks: tuple[tuple[str, str], ...] = ()
    memory_mib: int = _MEMORY_MIB


def machines_of(network: VirtualNetwork) -> tuple[MachinePlan, ...]:
    """One machine that holds every switch, and one per host; the former boots first."""
    switching = MachinePlan(
        SWITCHING_MACHINE,
        tuple(
            _link(SWITCHING_MACHINE, host, number, bridge=network.switch_of(host))
            for number, host in enumerate(network.hosts, start=1)
        ),
        bridges=network.switches,
        trunks=network.trunks,
    )
    hosts = [
        MachinePlan(
            host,
            (_link(host, SWITCHING_MACHINE, number, address=f"{network.address(host)}/{PREFIX_LENGTH}"),),
        )
        for number, host in enumerate(network.hosts, start=1)
    ]
    return (switching, *hosts)


def _link(name: str, peer: str, number: int, *, address: str = "", bridge: str = "") -> Link:
    side = "05" if bridge else "09"
    return Link(
        socket_name=f"{name}-{peer}.sock",
        peer_socket_name=f"{peer}-{name}.sock",
        mac=f"52:54:00:{side}:00:{number:02x}",
        address=address,
        bridge=bridge,
    )


def pair(names: Sequence[str] = ("h1", "h2")) -> tuple[MachinePlan, MachinePlan]:
    """Two hosts with soft-RoCE whose experiment NICs are joined by one cable, without a switch."""
    first, second = names
    return (
        MachinePlan(first, (_joined(first, second, 1),)),
        MachinePlan(second, (_joined(second, first, 2),)),
    )


def _joined(name: str, peer: str, number: int) -> Link:
    return Link(
        socket_name=f"{name}-{peer}.sock",
        peer_socket_name=f"{peer}-{name}.sock",
        mac=f"52:54:00:09:00:{number:02x}",
        address=f"10.9.0.{number}/{PREFIX_LENGTH}",
        soft_roce=True,
    )
