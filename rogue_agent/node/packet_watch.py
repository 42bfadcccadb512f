"""Watch the packets of one cell at a Linux switch: record them, and carry out packet events."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from rogue.agent.node.capture import Capture, CaptureOrder, PacketEnd, real_minus_monotonic_ns
from rogue.agent.node.messages import Prepared
from rogue.agent.node.packet_events import PacketEvent
from rogue.agent.node.packet_relay import Relay


@dataclass(frozen=True)
class WatchOrders:
    """What a Linux switch does with packets of a cell besides forwarding them."""

    capture: CaptureOrder | None = None
    """Packets to record."""
    packet_events: Sequence[PacketEvent] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.capture is not None or bool(self.packet_events)

    def resolved(self, prepared: Mapping[str, Prepared]) -> "WatchOrders":
        """Return the orders with addresses and queue pairs of the roles that they name."""
        events = [
            _resolved(event, prepared[event.receiver], prepared[event.requester])
            for event in self.packet_events
        ]
        if self.capture is None:
            return WatchOrders(None, events)
        ends = [end for role in self.capture.roles for end in _packet_ends(prepared[role])]
        return WatchOrders(replace(self.capture, ends=ends), events)

    def text(self) -> str:
        """Return the orders as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, values: dict[str, Any]) -> "WatchOrders":
        """Return orders from their JSON values."""
        capture, events = values["capture"], values["packet_events"]
        return cls(
            None if capture is None else CaptureOrder.read(capture),
            [PacketEvent.read(each) for each in events],
        )


def _resolved(event: PacketEvent, receiver: Prepared, requester: Prepared) -> PacketEvent:
    numbers = {
        receiver.qp_num: requester.psn,
        receiver.shadow_qp_num: requester.shadow_psn,
        receiver.side_qp_num: 0,
    }
    known = {number: psn or 0 for number, psn in numbers.items() if number is not None}
    return replace(event, address=receiver.address, first_psns=known)


def _packet_ends(prepared: Prepared) -> list[PacketEnd]:
    """Return the queue pairs of a role."""
    numbers = (prepared.qp_num, prepared.shadow_qp_num, prepared.side_qp_num)
    return [PacketEnd(prepared.address, number) for number in numbers if number is not None]


class Watched(NamedTuple):
    """What a switch recorded and did."""

    packets: bytes = b""
    """A capture file."""
    missed: int = 0
    """Packets to record for which there was no room."""
    struck: Sequence[Sequence[int]] = ()
    """Packet events that happened: number of the event, time after the start, packet number."""


class PacketWatch:
    """Watches from `start` to `close`; packet events are carried out from the beginning."""

    def __init__(self, orders: WatchOrders, log: Path, stack: ExitStack) -> None:
        """`orders`: resolved; `log`: of the process that carries out packet events, which `stack` ends."""
        self._capture = Capture(orders.capture) if orders.capture else None
        events = orders.packet_events
        self._relay = stack.enter_context(Relay(events, log)) if events else None
        self._start_ns = 0

    def start(self, start_ns: int) -> None:
        """Record in the time of the orders, counted from this instant of the monotonic clock."""
        self._start_ns = start_ns
        if self._capture is not None:
            self._capture.start(start_ns)

    def close(self) -> Watched:
        """Return what was recorded and done."""
        origin_ns = self._start_ns + real_minus_monotonic_ns()
        struck = [] if self._relay is None else self._relay.close()
        packets, missed = (b"", 0) if self._capture is None else self._capture.close(origin_ns)
        return Watched(
            packets, missed, [(each.event, max(0, each.t_ns - origin_ns), each.psn) for each in struck]
        )
