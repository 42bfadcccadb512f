"""Events of transfers between roles, over real sockets."""

import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Spool
from rogue.agent.node.fields import MessageError
from rogue.agent.node.messages import After, Prepare
from rogue.agent.node.transfer_events import EventSender, TransferEvents, place_of, transfer_events_of

LIMIT_MS = 1_000


class Node:
    """A directory, a clock and a loop, which all roles of the test share."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.now = HostNs(1_000)
        self.poller = Poller(lambda: self.now)
        self.released: list[tuple[int, int]] = []
        self.spools: dict[str, Spool] = {}
        self.open: list[TransferEvents | EventSender] = []

    def role(self, name: str, end: str, *tells: str) -> TransferEvents:
        request = Prepare(name, LIMIT_MS, end, "10.9.0.1", "roce", 100, tells=list(tells))  # type: ignore[arg-type]
        spool = self.spools[name] = Spool(self.directory, name)
        events = transfer_events_of(request, spool, self.poller)
        assert events is not None
        self.open.append(events)
        return events

    def sender(self, role: str) -> EventSender:
        sender = EventSender(place_of(self.directory, role), self.poller)
        self.open.append(sender)
        return sender

    def attach(self, waiter: TransferEvents) -> None:
        """Let the waiter start: its released transfers are in `released`."""
        waiter.attach(lambda number, not_before_ns: self.released.append((number, not_before_ns)))

    def waiter(self, *requests: After, name: str = "a-requester") -> TransferEvents:
        events = self.role(name, "requester", "start", "arrival", "end")
        for request in requests:
            events.wait(request)
        self.attach(events)
        return events

    def turn(self, times: int = 4) -> None:
        for _ in range(times):
            self.poller.turn(self.now)


@pytest.fixture
def node() -> Iterator[Node]:
    with tempfile.TemporaryDirectory() as directory:
        node = Node(Path(directory))
        yield node
        for each in (*node.open, *node.spools.values()):
            each.close()


def after(known_by: str, moment: str, *waits: list[int], role: str = "a-requester") -> After:
    return After(role, LIMIT_MS, known_by, moment, list(waits))  # type: ignore[arg-type]


def test_a_transfer_starts_after_its_event_and_a_pause(node: Node) -> None:
    receiver = node.role("b-responder", "responder", "arrival")
    waiter = node.waiter(after("b-responder", "arrival", [0, 0, 70], [1, 1, 0]))
    assert waiter.held == {0, 1}
    node.turn()
    receiver.on_arrival(1, HostNs(900))
    node.turn()
    assert node.released == [(0, 970)], "the pause counts from the arrival"
    receiver.on_arrival(2, HostNs(1_000))
    node.turn()
    assert node.released == [(0, 970), (1, 1_000)]
    assert waiter.on_start(1, HostNs(1_000)) == ("b-responder", 1)


def test_a_late_receiver_gets_all_events(node: Node) -> None:
    receiver = node.role("b-responder", "responder", "arrival")
    receiver.on_arrival(1, HostNs(5))
    receiver.end()
    node.waiter(after("b-responder", "arrival", [3, 0, 0]))
    node.turn()
    assert node.released == [(3, 5)]


def test_an_event_between_two_requests_counts_from_its_instant(node: Node) -> None:
    """Otherwise a late request waits until the other role ends."""
    other = node.role("b-requester", "requester", "start", "end")
    waiter = node.role("a-requester", "requester", "start", "end")
    waiter.wait(after("b-requester", "start", [0, 0, 0]))
    other.on_start(1, HostNs(900))
    other.on_end(1, HostNs(950))
    node.turn()
    waiter.wait(after("b-requester", "end", [1, 0, 7], [0, 1, 0], [2, 0, 0], [2, 1, 0]))
    node.attach(waiter)
    assert node.released == [(1, 957)], "0 and 2 wait for what has not ended"
    other.on_end(2, HostNs(980))
    node.turn()
    assert node.released == [(1, 957), (0, 980), (2, 980)]


def test_a_role_waits_for_its_own_transfers_without_a_socket(node: Node) -> None:
    waiter = node.waiter(after("a-requester", "end", [1, 0, 10]), after("a-requester", "start", [2, 1, 0]))
    assert waiter.on_start(1, HostNs(10)) is None
    waiter.on_end(1, HostNs(30))
    assert waiter.on_start(2, HostNs(40)) == ("a-requester", 1)
    assert node.released == [(1, 40), (2, 40)]


@pytest.mark.parametrize("how", ["end", "close"])
def test_no_transfer_waits_for_a_role_that_has_ended(node: Node, how: str) -> None:
    """A transfer that has not arrived when its flow is over has failed, and counts as arrived (ADR 24)."""
    receiver = node.role("b-responder", "responder", "arrival")
    node.waiter(after("b-responder", "arrival", [0, 0, 0], [1, 1, 25], [2, 2, 0]))
    receiver.on_arrival(1, HostNs(900))
    node.turn()
    getattr(receiver, how)()
    node.now = HostNs(2_000)
    node.turn()
    assert node.released == [(0, 900), (1, 2_025), (2, 2_000)]


def test_an_event_may_be_later_than_the_beginning_of_the_turn(node: Node) -> None:
    """Roles run in parallel: another one may send an event while this one polls."""
    receiver = node.role("b-responder", "responder", "arrival")
    reading, writing = socket.socketpair()

    def look(_turn_began: HostNs) -> None:
        node.now = HostNs(5_000)
        receiver.on_arrival(2, node.now)
        node.poller.leave(reading.fileno())

    with reading, writing:
        node.poller.watch(reading.fileno(), look)
        node.waiter(after("b-responder", "arrival", [0, 0, 0], [1, 1, 0]))
        node.turn()
        receiver.on_arrival(1, node.now)
        writing.send(b"x")
        node.poller.turn(node.now)
    assert node.released == [(0, 1_000), (1, 5_000)]


@pytest.mark.parametrize("knows_first", [False, True])
def test_no_transfer_waits_for_a_role_that_failed_before_the_start(node: Node, *, knows_first: bool) -> None:
    receiver = node.role("b-responder", "responder", "arrival")
    waiter = node.role("a-requester", "requester", "start", "arrival", "end")
    waiter.wait(after("b-responder", "arrival", [0, 0, 0]))
    receiver.close()
    if knows_first:
        node.turn()
    waiter.wait(after("b-responder", "arrival", [1, 1, 30]))
    node.turn()
    node.attach(waiter)
    assert node.released == [(0, 1_000), (1, 1_030)]


def test_a_slow_receiver_gets_the_rest_when_there_is_room(node: Node) -> None:
    """100 000 events are 1.7 MB, more than a socket holds; the sender keeps the rest until there is room."""
    count = 100_000
    sender = node.sender("b-responder")
    waits = [[number, number, 0] for number in range(0, count, 1_000)]
    node.waiter(after("b-responder", "arrival", *waits))
    node.turn()
    for number in range(count):
        sender.tell("arrival", number, number // 1_000)
    sender.end()
    assert len(node.released) < len(waits)
    node.turn(200)
    assert node.released == [(number, number // 1_000) for number in range(0, count, 1_000)]


def test_arrivals_are_recorded(node: Node) -> None:
    node.role("b-responder", "responder", "arrival", "start").on_arrival(1, HostNs(7))
    node.spools["b-responder"].close()
    written = node.directory / "b-responder-arrivals.csv"
    assert written.read_text() == "transfer_id,arrived_ns\n1,7\n"


def test_without_waiting_transfers_no_events_are_sent(node: Node) -> None:
    request = Prepare("b-responder", LIMIT_MS, "responder", "10.9.0.1", "roce", 100)
    assert transfer_events_of(request, Spool(node.directory, "b"), node.poller) is None
    assert not list(node.directory.glob("transfers*"))
    node.role("c-requester", "requester", "arrival")
    assert not list(node.directory.glob("transfers*")), "its responder sends them"


def test_an_unknown_role_or_event_is_an_error(node: Node) -> None:
    with pytest.raises(
        SettingsError, match="got 'transfers-x', expected a role of this node that sends transfer"
    ):
        node.waiter(after("x", "arrival", [0, 0, 0]))
    with pytest.raises(MessageError, match="this role sends no arrival events"):
        node.waiter(after("y-requester", "arrival", [0, 0, 0]), name="y-requester")


@pytest.mark.parametrize("record", [b"\x03" + bytes(16), b"\x01" + bytes(8) + b"\xff" * 8])
def test_an_invalid_event_is_an_error(node: Node, record: bytes) -> None:
    sender = node.sender("b-responder")
    node.waiter(after("b-responder", "arrival", [0, 0, 0]))
    sender._record_bytes += record
    with pytest.raises(ValueError, match="no event of a transfer"):
        node.turn()
