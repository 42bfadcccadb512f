"""Which machines a testbed has and how their experiment links run, before anything is started."""

from collections.abc import Sequence
from dataclasses import dataclass

_EXPERIMENT_NETWORK = "10.9.0"
EXPERIMENT_MTU_BYTES = 4300  # leaves room for the InfiniBand MTU 4096 that soft-RoCE then takes


@dataclass(frozen=True, slots=True)
class Link:
    """One end of a cable: the socket it listens on, the peer's socket, the addresses of its interface."""

    socket_name: str
    peer_socket_name: str
    mac: str
    address: str  # with prefix length
    mtu_bytes: int = EXPERIMENT_MTU_BYTES
    soft_roce: bool = True


@dataclass(frozen=True, slots=True)
class MachinePlan:
    """One machine: its name, its experiment links, its memory."""

    name: str
    links: tuple[Link, ...]
    memory_mib: int = 384


def pair(names: Sequence[str] = ("h1", "h2")) -> tuple[MachinePlan, MachinePlan]:
    """Two hosts whose experiment NICs are joined by one cable, without a switch."""
    first, second = names
    return (
        MachinePlan(first, (_link(first, second, 1),)),
        MachinePlan(second, (_link(second, first, 2),)),
    )


def _link(name: str, peer: str, number: int) -> Link:
    return Link(
        socket_name=f"{name}-{peer}.sock",
        peer_socket_name=f"{peer}-{name}.sock",
        mac=f"52:54:00:09:00:{number:02x}",
        address=f"{_EXPERIMENT_NETWORK}.{number}/24",
    )
