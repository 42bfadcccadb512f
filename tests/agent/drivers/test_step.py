"""Tests: carry out the actions of a connection; shared by all drivers."""

import pytest

from rogue.agent.core.actions import SUCCESS, PostSend, QueuePairFailed, Trace, TransferDone
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import PeerError, PostRefused
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.states import State
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.step import PeerListener, drain

NOW = HostNs(10)
LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
SEGMENT = 65_536


class Notebook:
    """A driver that records its calls. It can refuse posts, and submit a transfer again."""

    def __init__(self, connection: Connection, *, refused_wr_id: int = 10**9, repeats: int = 0) -> None:
        self.notes: list[str] = []
        self.timers: list[HostNs | None] = []
        self._connection = connection
        self._refused_wr_id = refused_wr_id
        self._repeats = repeats

    def post_send(self, action: PostSend) -> NicNs:
        if action.wr_id >= self._refused_wr_id:
            self.notes.append(f"refuse {action.wr_id}")
            raise PostRefused
        self.notes.append(f"post {action.wr_id}")
        return NicNs(5)

    def set_rate(self, rate_bps: int) -> int:
        self.notes.append(f"rate {rate_bps}")
        return 1_800_000_000

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        self.timers.append(deadline_ns)

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        self.notes.append(f"done {action.transfer_id} {'ok' if action.is_ok else 'error'}")
        if self._repeats:
            self._repeats -= 1
            self._connection.submit(Transfer(action.transfer_id + 1, 0))

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        self.notes.append(f"failed {action.status}")

    def trace(self, action: Trace) -> None:
        self.notes.append(f"trace {action.reason}")


def connection_of(transport: str = "rogue") -> Connection:
    return Connection(settings_for(transport, LINK.line_rate_bps, {}), LINK, qp_num=1)


def test_actions_are_carried_out_in_order_and_reported() -> None:
    connection = connection_of()
    driver = Notebook(connection)
    connection.submit(Transfer(1, 3 * SEGMENT))
    drain(connection, driver, NOW)
    assert driver.notes == ["rate 1769600000", "post 1", "post 2"]
    connection.on_completions(
        NOW, [(1, SUCCESS, NicNs(10), SEGMENT, None)]
    )  # accepted only because it was posted
    assert driver.timers == [None]


def test_a_transfer_submitted_while_draining_goes_out_in_the_same_step() -> None:
    connection = connection_of("roce")
    driver = Notebook(connection, repeats=1)
    connection.submit(Transfer(1, 0))
    drain(connection, driver, NOW)
    connection.on_completions(NOW, [(1, SUCCESS, NicNs(10), 0, None)])
    drain(connection, driver, NOW)
    assert driver.notes == ["post 1", "done 1 ok", "post 2"]


def test_after_a_refused_post_no_later_verb_is_posted() -> None:
    connection = connection_of("roce")
    driver = Notebook(connection, refused_wr_id=1)
    connection.submit(Transfer(1, 2 << 20))
    drain(connection, driver, NOW)
    assert driver.notes == ["refuse 1", "failed None", "done 1 error"]
    assert connection.state is State.FAILED


def test_the_timer_follows_the_deadline() -> None:
    connection = connection_of("roce")
    driver = Notebook(connection)
    connection.submit(Transfer(1, 1))
    drain(connection, driver, NOW)
    connection.on_qp_error(NOW, 1)
    drain(connection, driver, NOW)
    connection.on_timer(HostNs(NOW + 10**9))
    drain(connection, driver, HostNs(NOW + 10**9))
    assert driver.timers == [None, NOW + 10**9, None]
    assert driver.notes[-2:] == ["failed None", "done 1 error"]


def test_an_invalid_message_is_dropped_and_counted() -> None:
    def raise_error(error: Exception) -> None:
        raise error

    one, other, heard = PeerListener(), PeerListener(), list[str]()
    one._pass_on(lambda: raise_error(PeerError("nonsense")))
    one._pass_on(lambda: heard.append("sense"))
    assert (one.mistakes, other.mistakes, heard) == (1, 0, ["sense"])
    with pytest.raises(ValueError):
        one._pass_on(lambda: raise_error(ValueError()))
