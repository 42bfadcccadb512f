"""Ports of Linux switches, with the rate and the queue that a network asks for."""

from collections.abc import Collection, Mapping
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.network_asked import PortAsked
from rogue.harness.provisioning.ports import PortSettings

_UNBOUNDED_BYTES: Final = 1_000_000_000


def linux_ports(asked: Mapping[str, PortAsked], hosts: Collection[str]) -> dict[str, PortSettings]:
    """Settings by port; bursts, and the shortest delay, are each testbed's own.

    A port to a host delays for a sender's cable and the receiver's, which are alike: hosts delay nothing.

    Deviation: a Linux switch has no buffer that its ports share. Each port gets what it could hold alone,
    alpha / (1 + alpha) of the buffer, which is where a single congested port settles.
    """
    return {
        name: PortSettings(
            rate_bps=port.rate_bps,
            queue_bytes=_queue_bytes(port),
            delay_ns=(2 if leads_to(hosts, name) else 1) * port.delay_ns,
        )
        for name, port in asked.items()
    }


def leads_to(hosts: Collection[str], port: str) -> bool:
    """Whether a host stands behind an egress."""
    return port.partition("->")[2] in hosts


def uneven_delays(cell: Cell) -> str | None:
    """Why ports cannot delay for the cables of hosts; None if they can, for these are alike."""
    hosts = cell.topology.host_names()
    delays_ns = {link.delay_ns for link in cell.network.links if link.a in hosts or link.b in hosts}
    if len(delays_ns) > 1:
        return "a Linux switch gives the cables of all hosts one delay: give their links the same delay"
    return None


def _queue_bytes(port: PortAsked) -> int:
    if port.buffer_bytes is None:
        return _UNBOUNDED_BYTES
    return max(1, int(port.buffer_bytes * port.alpha / (1 + port.alpha)))
