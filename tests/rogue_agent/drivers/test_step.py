"""The step shared by all drivers, against a port that only takes notes."""

from rogue_agent.core.actions import PostSend, QueuePairFailed, Trace, TransferDone
from rogue_agent.core.clocks import HostNs, NicNs
from rogue_agent.core.completions import SUCCESS
from rogue_agent.core.connection import Connection, QpEvent
from rogue_agent.core.errors import PostRefused
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.segmentation import Transfer
from rogue_agent.core.states import State
from rogue_agent.core.transports import settings_for
from rogue_agent.drivers.step import drain

NOW = HostNs(10)
LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
SEGMENT = 65_536


class Notebook:
    """A port that writes down what it is asked; it can refuse posts, and submit a transfer after another."""

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


def test_actions_are_carried_out_in_order_and_answered() -> None:
    connection = connection_of()
    port = Notebook(connection)
    connection.submit(Transfer(1, 3 * SEGMENT))
    drain(connection, port, NOW)
    assert port.notes == ["rate 1769600000", "post 1", "post 2"]
    connection.on_completions(
        NOW, [(1, SUCCESS, NicNs(10), SEGMENT, None)]
    )  # accepted only because it was posted
    assert port.timers == [None]


def test_a_transfer_submitted_while_draining_goes_out_in_the_same_step() -> None:
    connection = connection_of("roce")
    port = Notebook(connection, repeats=1)
    connection.submit(Transfer(1, 0))
    drain(connection, port, NOW)
    connection.on_completions(NOW, [(1, SUCCESS, NicNs(10), 0, None)])
    drain(connection, port, NOW)
    assert port.notes == ["post 1", "done 1 ok", "post 2"]


def test_after_a_refused_post_no_later_verb_is_posted() -> None:
    connection = connection_of("roce")
    port = Notebook(connection, refused_wr_id=1)
    connection.submit(Transfer(1, 2 << 20))
    drain(connection, port, NOW)
    assert port.notes == ["refuse 1", "failed None", "done 1 error"]
    assert connection.state is State.FAILED


def test_the_timer_follows_the_deadline() -> None:
    connection = connection_of("roce")
    port = Notebook(connection)
    connection.submit(Transfer(1, 1))
    drain(connection, port, NOW)
    connection.on_qp_event(NOW, 1, QpEvent.ERROR)
    drain(connection, port, NOW)
    connection.on_timer(HostNs(NOW + 10**9))
    drain(connection, port, HostNs(NOW + 10**9))
    assert port.timers == [None, NOW + 10**9, None]
    assert port.notes[-2:] == ["failed None", "done 1 error"]
