"""Memory of a host, and unreliable datagrams between hosts."""

import hashlib
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from rogue.simulator._core import Engine
from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import require_integer
from rogue.simulator.topology import Topology


class Memory:
    """A registered range of a host's memory. Bytes of a verb land when their packet is accepted."""

    def __init__(self, engine: Engine, host: int, size_bytes: int, seed: int | None) -> None:
        self.size_bytes = size_bytes
        self.number = engine.add_memory(host=host, size_bytes=size_bytes, seed=seed)
        self.engine = engine

    def read(self, offset: int, length_bytes: int) -> bytes:
        """Return the bytes of a part."""
        self._check("read", offset, length_bytes)
        return self.engine.read_memory(self.number, offset, length_bytes)

    def write(self, offset: int, data: bytes) -> None:
        """Write as host software does. Packets that leave later carry the new bytes."""
        self._check("write", offset, len(data))
        self.engine.write_memory(self.number, offset, data)

    def digest(self, offset: int = 0, length_bytes: int | None = None) -> str:
        """Return a hash of a part, by default of all from ``offset`` on."""
        length = self.size_bytes - offset if length_bytes is None else length_bytes
        return hashlib.blake2b(self.read(offset, length), digest_size=16).hexdigest()

    def _check(self, what: str, offset: int, length_bytes: int) -> None:
        if offset < 0 or length_bytes < 0 or offset + length_bytes > self.size_bytes:
            raise SimulationError(
                f"{what} of memory {self.number}: expected a part of its {self.size_bytes} bytes, "
                f"got {length_bytes} bytes at {offset}"
            )


OnDatagrams: TypeAlias = Callable[[int, list[tuple[int, int, bytes]]], object]


class _Route(NamedTuple):
    """A route to a host."""

    reroutings: int
    """Value of `Topology.reroutings` when the route was found."""
    links: list[int]
    number: int
    """Number of the route in the engine."""


class DatagramQueuePair:
    """A queue pair of type UD: messages of one packet that may be lost, but never arrive changed."""

    def __init__(self, engine: Engine, topology: Topology, host: int, mtu_bytes: int) -> None:
        self.qp_num = engine.add_datagram_queue_pair(host)
        self._engine = engine
        self._topology = topology
        self._host = host
        self._mtu_bytes = mtu_bytes
        self._routes: dict[int, _Route] = {}  # by host of destination

    def attach(self, on_receives: OnDatagrams) -> None:
        """Attach host software to this queue pair.

        ``on_receives(host_ns, [(source_qp_num, nic_ns, payload), ...])`` gets all arrivals of an instant.
        """
        self._engine.attach_datagrams(self.qp_num, on_receives)

    def post_send(self, wr_id: int, destination: "DatagramQueuePair", payload: bytes) -> None:
        """Send a message. It leaves the NIC before the packets of verbs; its completion is not reported."""
        where = f"post_send on datagram queue pair {self.qp_num}"
        require_integer(where, "wr_id", wr_id, 0, 2**63 - 1)
        require_integer(where, "the length of payload in bytes", len(payload), 0, self._mtu_bytes)
        if destination._host == self._host:
            raise SimulationError(f"{where}: expected a destination on another host")
        self._engine.post_datagram(
            qp_num=self.qp_num,
            wr_id=wr_id,
            destination_qp_num=destination.qp_num,
            route=self._route_to(where, destination._host),
            payload=payload,
        )

    def _route_to(self, where: str, host: int) -> int:
        """Return the number of the route there; find it again after a rerouting."""
        known = self._routes.get(host)
        if known is None or known.reroutings != self._topology.reroutings:
            links = self._topology.route(where, self._host, host, self.qp_num)
            is_same = known is not None and known.links == links
            number = known.number if known is not None and is_same else self._engine.add_route(links)
            known = self._routes[host] = _Route(self._topology.reroutings, links, number)
        return known.number
