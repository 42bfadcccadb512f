"""Events of single packets: a packet is named, and something happens to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rogue.simulator._core import Engine
from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import INTERVAL_NS_MAX, require_integer, require_one_of
from rogue.simulator.topology import Topology

PACKET_CLASSES: Final = ("data", "read_request", "ack", "nak", "cnp", "datagram")
"""Kinds of packets, by the numbers of PacketClass (simulator/cpp/protocol/packet_event.h)."""
PACKET_ACTIONS: Final = ("drop", "mark", "corrupt", "delay", "duplicate", "reorder")
"""What happens to a packet, by the numbers of PacketAction in the same file."""
COPIES_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketEvent:
    """One packet that leaves a host, and what happens to it at the far end of the host's link.

    The packet is number ``transmission``, from 1, of those that leave ``host``, belong to one of
    ``queue_pairs`` (either end of a connection) and match ``packet`` and ``psn`` (None: any number). Numbers
    are those of `Simulation.packet_table`. Packets that the link itself loses and copies do not count.

    ``drop`` loses the packet, ``mark`` sets congestion experienced, ``corrupt`` makes the receiving NIC
    discard it. ``delay`` holds it for ``delay_ns``. ``duplicate`` adds ``packets`` copies behind it.
    ``reorder`` holds it until ``packets`` later ones of the same host and queue pairs have passed; if fewer
    come, it never arrives.
    """

    host: str
    queue_pairs: Sequence[int]
    packet: str = "data"
    psn: int | None = None
    transmission: int = 1
    action: str
    delay_ns: int = 0
    packets: int = 1


class PacketEvents:
    """Part of a simulation: events of single packets."""

    _engine: Engine
    _topology: Topology
    _connected: dict[int, tuple[str, str, str]]

    def inject_packet_event(self, event: PacketEvent) -> None:
        """Register an event for one packet. Call it before anything is posted."""
        where = f"packet_event {event.host}"
        node, _ = self._topology.host(where, event.host)
        require_one_of(where, "packet", event.packet, PACKET_CLASSES)
        require_one_of(where, "action", event.action, PACKET_ACTIONS)
        numbers = set(event.queue_pairs)
        for number in event.queue_pairs:
            first = number if number in self._connected else number - 1
            if first in self._connected:
                numbers |= {first, first + 1}
                if self._connected[first][2] == "tcp":
                    raise SimulationError(
                        f"{where}: expected queue pairs of RDMA, got {number}, an end of TCP"
                    )
        if event.psn is not None:
            require_integer(where, "psn", event.psn, 0, 2**63 - 1)
        if event.action == "delay":
            require_integer(where, "delay_ns", event.delay_ns, 1, INTERVAL_NS_MAX)
        self._engine.inject(
            "packet_event",
            host=node,
            queue_pairs=sorted(numbers),
            packet=PACKET_CLASSES.index(event.packet),
            psn=event.psn,
            transmission=require_integer(where, "transmission", event.transmission, 1, 2**63 - 1),
            action=PACKET_ACTIONS.index(event.action),
            delay_ns=event.delay_ns,
            packets=require_integer(where, "packets", event.packets, 1, COPIES_MAX),
        )

    def packet_event_times_ns(self) -> list[int | None]:
        """Return when each event acted, in the order of their injection; None: it has not."""
        return [None if at is None else at // 1000 for at in self._engine.packet_event_times_ps()]
