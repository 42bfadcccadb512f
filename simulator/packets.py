"""Packet records of chosen links."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rogue.simulator._core import Engine
from rogue.simulator.errors import SimulationError
from rogue.simulator.parameters import INTERVAL_NS_MAX, require_integer
from rogue.simulator.topology import Topology

PACKETS_MAX: Final = 2_000_000
"""A packet takes 128 bytes until the end."""
Columns: TypeAlias = dict[str, NDArray[Any]]

KINDS: Final = (
    "write",
    "ack",
    "nak",
    "write",
    "write",
    "read_request",
    "read_response",
    "write",
    "ack",
    "datagram",
    "cnp",
    "feedback",
    "stray",
    "pause",
)
"""By the numbers of PacketKind (simulator/cpp/protocol/packet_kind.h)."""
FATES: Final = (
    None,
    "link",
    "buffer",
    "marker",
    "watchdog",
    "slow_receiver",
    "expired",
    "flooded",
    "stray",
    "event",
)
"""Reasons why a packet ended, by the numbers of PacketFate (simulator/cpp/results/packet_log.h).
Flooded packets continue as copies."""
FLAGS: Final = {
    1: "first",
    2: "last",
    4: "ack_request",
    8: "immediate",
    1 << 9: "ect",
    1 << 10: "cwr",
    1 << 11: "ece",
    1 << 13: "corrupt",
}
"""What else a packet says, by the bits of PacketFlags and PacketRecord."""
_FLOODED: Final = FATES.index("flooded")
_SEND: Final = 16
_MARKED: Final = 1 << 8
_NEGATIVE: Final = 1 << 12
_ACKNOWLEDGEMENT: Final = 8
"""Kind of the acknowledgements of reliabilities other than go-back-N; they carry the packet expected next."""
_PAUSE: Final = KINDS.index("pause")
_STRAY: Final = KINDS.index("stray")


class Packets:
    """Part of a simulation."""

    _engine: Engine
    _topology: Topology
    _connected: dict[int, tuple[str, str, str]]
    """By the lower of its two numbers the hosts of a connection, and its service."""
    _datagram_hosts: dict[int, str]
    """The host of each queue pair of type UD, by its number."""

    def record_packets(
        self,
        ports: Sequence[str] | None = None,
        *,
        queue_pairs: Sequence[int] = (),
        from_ns: int = 0,
        until_ns: int | None = None,
        packets_max: int = 100_000,
    ) -> None:
        """Record packets that leave chosen ports (``"h0->s0"``; None: all), or are refused there.

        Call it before anything is posted. With ``queue_pairs`` it records only their packets, and pause
        frames. It counts packets after the first ``packets_max`` without recording them.
        """
        where = "record_packets"
        require_integer(where, "from_ns", from_ns, 0, INTERVAL_NS_MAX)
        if until_ns is not None:
            require_integer(where, "until_ns", until_ns, from_ns, INTERVAL_NS_MAX)
        self._topology.close()
        self._engine.record_packets(
            links=self._links_of(ports),
            queue_pairs=list(queue_pairs),
            from_ns=from_ns,
            until_ns=until_ns,
            packets_max=require_integer(where, "packets_max", packets_max, 1, PACKETS_MAX),
        )

    def _links_of(self, ports: Sequence[str] | None) -> list[int]:
        names = [self._topology.link_name(link) for link in range(len(self._topology.link_ends))]
        if ports is None:
            return list(range(len(names)))
        for port in ports:
            if port not in names:
                raise SimulationError(f"record_packets: expected a port such as {names[0]!r}, got {port!r}")
        return [names.index(port) for port in ports]

    @property
    def packets_missed(self) -> int:
        """Number of packets beyond the maximum, which were not recorded."""
        return self._engine.packets_missed()

    def packet_table(self) -> Columns:
        """Return a row for each packet that crossed a recorded link or was refused in front of it.

        ``t_ps`` is the time at which the packet began to leave the port, or was refused. ``qp_num`` is the
        receiver's, as in the packet's header. ``psn`` counts packets; for TCP and queue pairs with a
        `Reliability` it is not cut to 24 bits. The ``psn`` of an ACK is the last received packet, -1 before
        the first; of a NAK the missing one, and of TCP the next expected one.
        """
        unsorted = self._engine.packet_columns()
        order = np.lexsort((unsorted["link"], unsorted["t_ps"]))
        columns = {name: column[order] for name, column in unsorted.items()}
        source, destination = columns.pop("source"), columns.pop("destination")
        kind, number, flags, fate = (columns.pop(name) for name in ("kind", "number", "flags", "fate"))
        has_headers = (kind != _PAUSE) & (kind != _STRAY)
        services, words = self._services(source, destination), _kinds(kind, flags)
        tells_next = (kind == _ACKNOWLEDGEMENT) & (words == "ack") & (services != "tcp")
        number = number - tells_next
        told, flags = flags, np.where(kind == _PAUSE, 0, flags)
        senders = self._topology.senders_of(columns.pop("link"))
        return {
            **senders,
            **columns,
            "kind": words,
            "service": services,
            "src": self._hosts(source),
            "dst": self._hosts(destination),
            "src_qp_num": _or_none(source, source != 0),
            "qp_num": _or_none(destination, destination != 0),
            "psn": _or_none(number, has_headers & (source != 0)),
            "marked": (flags & _MARKED) != 0,
            "dropped": (fate != 0) & (fate != _FLOODED),
            "reason": np.array(FATES, dtype=object)[fate],
            "flags": _words(flags),
            "message_bytes": _or_none(columns["message_bytes"], columns["message_bytes"] != 0),
            "immediate": _or_none(columns["immediate"], (flags & 8) != 0),
            "selective": _ranges(columns["selective"]),
            "told_priorities": _or_none(told, kind == _PAUSE),
            "paused_priorities": _or_none(number, kind == _PAUSE),
        }

    def _hosts(self, qp_nums: NDArray[np.int64]) -> NDArray[Any]:
        hosts = dict(self._datagram_hosts)
        for number, (one, other, _) in self._connected.items():
            hosts[number], hosts[number + 1] = one, other
        return _looked_up(qp_nums, hosts)

    def _services(self, source: NDArray[np.int64], destination: NDArray[np.int64]) -> NDArray[Any]:
        services = dict.fromkeys(self._datagram_hosts, "ud")
        for number, (_, _, service) in self._connected.items():
            services[number] = services[number + 1] = service
        return _looked_up(np.where(source != 0, source, destination), services)


def _looked_up(keys: NDArray[np.int64], values: dict[int, str]) -> NDArray[Any]:
    distinct, places = np.unique(keys, return_inverse=True)
    return np.array([values.get(int(key)) for key in distinct], dtype=object)[places]


def _kinds(kind: NDArray[np.int64], flags: NDArray[np.int64]) -> NDArray[Any]:
    words = np.array(KINDS, dtype=object)[kind]
    words[(words == "write") & ((flags & _SEND) != 0)] = "send"
    words[(words == "ack") & ((flags & _NEGATIVE) != 0)] = "nak"
    return words


def _or_none(values: NDArray[np.int64], is_there: NDArray[np.bool_]) -> NDArray[Any]:
    objects = values.astype(object)
    objects[~is_there] = None
    return objects


def _words(flags: NDArray[np.int64]) -> NDArray[Any]:
    distinct, places = np.unique(flags, return_inverse=True)
    texts = [" ".join(word for bit, word in FLAGS.items() if value & bit) or None for value in distinct]
    return np.array(texts, dtype=object)[places]


def _ranges(numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return texts such as ``7-9 12-12``: numbers of packets, both ends included.

    A row of ``numbers`` has the first packet of each range and the one behind its last, by turns.
    """
    texts = np.full(len(numbers), None, dtype=object)
    for row in np.flatnonzero(numbers[:, 1] > numbers[:, 0]):
        found = [(first, end - 1) for first, end in numbers[row].reshape(-1, 2).tolist() if end > first]
        texts[row] = " ".join(f"{first}-{last}" for first, last in found)
    return texts
