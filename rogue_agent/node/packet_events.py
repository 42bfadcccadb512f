"""Drop, mark, corrupt, delay, duplicate or reorder single RoCEv2 packets: decide what is sent for each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rogue.agent.node.roce_frames import PSN_MASK, Frame, decode

_ICRC_BYTES = 4


@dataclass(frozen=True)
class PacketEvent:
    """One packet of one direction of a flow, and what happens to it where the packet comes to a switch."""

    port: str
    """Port that the packet leaves, such as h0->s0."""
    interface: str
    """Interface of the switch at the other end."""
    bridge: str
    kinds: Sequence[str]
    """As in `roce_frames`."""
    psn: int | None
    """Counted from the flow's first packet; None for packets without a number."""
    transmission: int
    """Number of the matching packet that is chosen, from 1."""
    action: str
    """drop, mark, corrupt, delay, duplicate or reorder."""
    amount: int = 0
    """Nanoseconds of a delay; copies; packets that overtake."""
    receiver: str = ""
    """Role that the packet is for."""
    requester: str = ""
    """Role that numbers the packets of both directions."""
    address: str = ""
    """Address of the receiver."""
    first_psns: Mapping[int, int] = field(default_factory=dict)
    """Number of the first packet, by the queue pair of the receiver."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> "PacketEvent":
        """Return the event from its JSON values."""
        return cls(**{**values, "first_psns": {int(key): each for key, each in values["first_psns"].items()}})


class Struck(NamedTuple):
    """An event that happened."""

    event: int
    """Its place among the events."""
    t_ns: int
    """When the packet came, on the clock of real time."""
    psn: int
    """As in its header."""


class Outcome(NamedTuple):
    """A packet to send on."""

    packet: bytes
    copies: int = 1
    delay_ns: int = 0


@dataclass
class _Watch:
    """The state of one event."""

    number: int
    event: PacketEvent
    count: int = 0
    """Matching packets so far."""
    held: bytes = b""
    """The packet that later ones overtake."""
    overtaking: int = 0
    """Packets that have yet to overtake it."""

    def is_of_direction(self, frame: Frame) -> bool:
        """True of each packet of the flow in the event's direction."""
        return frame.destination == self.event.address and frame.qp_num in self.event.first_psns

    def strikes(self, frame: Frame) -> bool:
        """Count a packet of the direction; return True for the chosen one."""
        event = self.event
        if frame.kind not in event.kinds:
            return False
        if event.psn is not None and (frame.psn - event.first_psns[frame.qp_num]) & PSN_MASK != event.psn:
            return False
        self.count += 1
        return self.count == event.transmission

    def change(self, outcome: Outcome, frame: Frame) -> Outcome:
        """Apply the event to the chosen packet."""
        event = self.event
        if event.action == "drop":
            return outcome._replace(copies=0)
        if event.action == "reorder":
            self.held, self.overtaking = outcome.packet, event.amount
            return outcome._replace(copies=0)
        if event.action == "delay":
            first_ns = outcome.delay_ns or event.amount  # as in the simulator
            return outcome._replace(delay_ns=first_ns)
        if event.action == "duplicate":
            return outcome._replace(copies=outcome.copies + event.amount)
        change = marked if event.action == "mark" else corrupted
        return outcome._replace(packet=change(outcome.packet, frame))


class Matcher:
    """Decides what happens to each packet; opens no sockets and reads no clock."""

    def __init__(self, events: Sequence[PacketEvent]) -> None:
        self._watches = [_Watch(number, event) for number, event in enumerate(events)]
        self.struck: list[Struck] = []

    def outcomes(self, packet: bytes, t_ns: int) -> Iterator[Outcome]:
        """Yield what to send, in order, for a packet that has come at an instant."""
        frame, outcome = decode(packet), Outcome(packet)
        if frame is None:
            yield outcome
            return
        watches = [watch for watch in self._watches if watch.is_of_direction(frame)]
        chosen = [watch for watch in watches if watch.strikes(frame)]
        for watch in chosen:
            self.struck.append(Struck(watch.number, t_ns, frame.psn))
            outcome = watch.change(outcome, frame)
        if outcome.copies == 0:
            return
        yield outcome
        for watch in watches:
            if watch.held:
                watch.overtaking -= 1
                if watch.overtaking == 0:
                    yield Outcome(watch.held)
                    watch.held = b""


def marked(packet: bytes, frame: Frame) -> bytes:
    """Return a packet that has experienced congestion; the ICRC does not cover that."""
    changed = bytearray(packet)
    ip = frame.ip
    if packet[ip] >> 4 == 6:
        changed[ip + 1] |= 0x30
        return bytes(changed)
    changed[ip + 1] |= 3
    changed[ip + 10 : ip + 12] = b"\0\0"
    changed[ip + 10 : ip + 12] = _checksum(changed[ip : ip + (packet[ip] & 0xF) * 4]).to_bytes(2, "big")
    return bytes(changed)


def corrupted(packet: bytes, frame: Frame) -> bytes:
    """Return a packet with a wrong last byte of its payload, or of its ICRC if it has no payload."""
    changed = bytearray(packet)
    changed[frame.end - 1 - (_ICRC_BYTES if frame.payload_bytes else 0)] ^= 0xFF
    return bytes(changed)


def _checksum(header: bytes | bytearray) -> int:
    """Return the checksum of an IPv4 header. Source: RFC 1071."""
    total = sum(int.from_bytes(header[place : place + 2], "big") for place in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
