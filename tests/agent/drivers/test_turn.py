"""The requests and returns of one flow at shared limiters."""

import pytest

from rogue.agent.core.actions import SUCCESS, Action, PostSend, SetRate
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import Claim, LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.turn import LimiterTurn

LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
SEGMENT = 65_536
NOW = HostNs(1_000)
REQUEST, IDLE, RETURN, AGAIN = Claim


class Flow:
    """A connection whose verbs are posted at once, and which runs while `is_running`."""

    def __init__(self) -> None:
        self.connection = Connection(settings_for("rogue", LINK.line_rate_bps, {}), LINK, 1)
        self.sent: list[Claim] = []
        self.done: list[Action] = []
        self.used: list[int] = []
        self.is_running = False
        self.may_leave = True
        self.turn = LimiterTurn(
            lambda claim, _now: self.sent.append(claim),
            self.connection,
            lambda: self.is_running,
            self.used.append,
            self.carry_out,
            lambda: self.may_leave,
        )

    def carry_out(self, now: HostNs) -> None:
        for action in self.connection.actions():
            self.done.append(action)
            if isinstance(action, PostSend):
                self.connection.on_posted(action.wr_id, NicNs(now))
            elif isinstance(action, SetRate):
                self.connection.on_rate_set(action.rate_bps)
        self.turn.update(now)

    def submit(self, segments: int) -> None:
        self.is_running = True
        self.connection.submit(Transfer(1, segments * SEGMENT))
        self.carry_out(NOW)

    def complete(self, wr_id: int) -> None:
        self.connection.on_completions(NOW, [(wr_id, SUCCESS, NicNs(NOW), SEGMENT, None)])
        self.carry_out(NOW)


@pytest.fixture
def flow() -> Flow:
    return Flow()


def test_an_idle_flow_requests_again(flow: Flow) -> None:
    flow.submit(2)
    flow.turn.begin(0, NOW)
    flow.complete(1)
    flow.complete(2)
    flow.is_running = False
    flow.carry_out(NOW)
    flow.carry_out(NOW)
    assert flow.sent == [REQUEST, IDLE]
    flow.submit(1)
    assert flow.sent == [REQUEST, IDLE, REQUEST]


def test_a_revoked_limiter_is_returned_after_the_last_completion(flow: Flow) -> None:
    flow.submit(9)
    flow.turn.begin(0, NOW)
    flow.turn.leave(NOW)
    flow.complete(1)
    assert flow.sent == [REQUEST], "one is still out"
    flow.complete(2)
    assert flow.sent == [REQUEST, AGAIN]
    flow.carry_out(NOW)
    assert flow.sent == [REQUEST, AGAIN], "it waits already"
    assert [type(action) for action in flow.done] == [SetRate, PostSend, PostSend]


def test_an_idle_flow_returns_its_limiter_at_once(flow: Flow) -> None:
    flow.submit(1)
    flow.turn.begin(0, NOW)
    flow.complete(1)
    flow.is_running = False
    flow.carry_out(NOW)
    flow.turn.leave(NOW)
    assert flow.sent == [REQUEST, IDLE, RETURN]


def test_an_unsettled_rate_keeps_the_limiter(flow: Flow) -> None:
    """It would come to the limiter when another flow has it."""
    flow.submit(1)
    flow.turn.begin(0, NOW)
    flow.complete(1)
    flow.may_leave = False
    flow.turn.leave(NOW)
    assert flow.sent == [REQUEST]
    flow.may_leave = True
    flow.turn.update(NOW)
    assert flow.sent == [REQUEST, AGAIN]


def test_a_finished_flow_returns_its_limiter(flow: Flow) -> None:
    flow.submit(1)
    flow.turn.begin(0, NOW)
    flow.turn.end(NOW)
    assert flow.sent == [REQUEST], "its verb is still out"
    flow.complete(1)
    assert flow.sent == [REQUEST, RETURN]
    flow.turn.end(NOW)
    flow.turn.leave(NOW)
    assert flow.sent == [REQUEST, RETURN]
