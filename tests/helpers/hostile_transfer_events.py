"""What a role is asked to wait for, and what another role tells it of transfers, as streams of bytes."""

import select
import socket
import struct
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Spool
from rogue.agent.node.messages import After, Prepare
from rogue.agent.node.transfer_events import EventReceiver, EventSender, TransferEvents, place_of
from rogue.agent.node.wire import listener_at

NOW = HostNs(1_000)
_TURNS_MAX = 100
_PREPARED = Prepare("r", 1_000, "requester", "10.9.0.1", "roce", 100, tells=["start", "arrival", "end"])


def events(*records: tuple[int, int, int]) -> bytes:
    """Kind, number and instant of each, as they are told."""
    return b"".join(struct.pack("!BQQ", *record) for record in records)


def hear(content: bytes, _place: Path) -> list[tuple[str, int, int]]:
    """Hear it from a role that then falls silent; what was told until then."""
    heard: list[tuple[str, int, int]] = []
    ended: list[HostNs] = []
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        poller = Poller(lambda: NOW)
        listener = listener_at(place_of(Path(directory), "q"), socket.SOCK_STREAM)
        stack.callback(listener.close)
        receiver = EventReceiver(
            place_of(Path(directory), "q"), poller, lambda *moment: heard.append(moment), ended.append
        )
        stack.callback(receiver.close)
        sender, _ = listener.accept()
        stack.callback(sender.close)
        sender.setblocking(False)
        left = memoryview(content)
        for _ in range(_TURNS_MAX):
            if left and select.select([], [sender], [], 0)[1]:
                left = left[sender.send(left) :]
            if not left:
                sender.close()
            poller.turn(NOW)
            if ended:
                return heard
    raise AssertionError(f"the end was not heard, {len(left)} bytes before it")


def wait(request: After) -> frozenset[int]:
    """Wait as asked, for oneself or for role q, and let what is waited for happen; who is held."""
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        poller = Poller(lambda: NOW)
        spool = Spool(Path(directory), "r")
        stack.callback(spool.close)
        other = EventSender(place_of(Path(directory), "q"), poller)
        stack.callback(other.close)
        waiter = TransferEvents(_PREPARED, spool, poller)
        stack.callback(waiter.close)
        waiter.attach(lambda _number, _not_before_ns: None)
        waiter.wait(request)
        for _, number, _ in request.waits:
            waiter.on_start(number + 1, NOW)
            waiter.on_end(number + 1, NOW)
        return waiter.held
