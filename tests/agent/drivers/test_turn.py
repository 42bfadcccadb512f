"""The requests and returns of one flow at shared limiters."""

from dataclasses import dataclass, field

import pytest

from rogue.agent.core.actions import SUCCESS, Action, PostSend, SetRate
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.turn import LimiterTurn

LINK = LinkFacts(10**10, 1024, rate_step_bps=100_000_000)
SEGMENT = 65_536
NOW = HostNs(1_000)


@dataclass
class Line:
    """Hears what a flow says."""

    said: list[str] = field(default_factory=list)

    def request(self, now: HostNs) -> None:
        self.said.append("request")

    def set_idle(self, now: HostNs) -> None:
        self.said.append("idle")

    def give_back(self, now: HostNs, *, wants_more: bool) -> None:
        self.said.append(f"give back, {'more' if wants_more else 'no more'}")


class Flow:
    """A connection whose verbs are posted at once, and which runs while `is_running`."""

    def __init__(self) -> None:
        self.connection = Connection(settings_for("rogue", LINK.line_rate_bps, {}), LINK, 1)
        self.line = Line()
        self.done: list[Action] = []
        self.used: list[int] = []
        self.is_running = False
        self.may_leave = True
        self.turn = LimiterTurn(
            self.line, self.connection, lambda: self.is_running, self.used.append, self.go_on,
            lambda: self.may_leave,
        )  # fmt: skip

    def go_on(self, now: HostNs) -> None:
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
        self.go_on(NOW)

    def complete(self, wr_id: int) -> None:
        self.connection.on_completions(NOW, [(wr_id, SUCCESS, NicNs(NOW), SEGMENT, None)])
        self.go_on(NOW)


@pytest.fixture
def flow() -> Flow:
    return Flow()


def test_nothing_is_programmed_or_posted_before_the_first_turn(flow: Flow) -> None:
    flow.go_on(NOW)
    assert flow.line.said == [], "there is nothing to move"
    flow.submit(9)
    flow.go_on(NOW)
    assert (flow.done, flow.line.said) == ([], ["request"])
    flow.turn.begin(3, NOW)
    assert flow.used == [3]
    assert [type(action) for action in flow.done] == [SetRate, PostSend, PostSend]


def test_it_rests_when_nothing_is_left_and_asks_again(flow: Flow) -> None:
    flow.submit(2)
    flow.turn.begin(0, NOW)
    flow.complete(1)
    flow.complete(2)
    flow.is_running = False
    flow.go_on(NOW)
    flow.go_on(NOW)
    assert flow.line.said == ["request", "idle"]
    flow.submit(1)
    assert flow.line.said == ["request", "idle", "request"]


def test_it_gives_back_when_its_last_verb_has_completed(flow: Flow) -> None:
    flow.submit(9)
    flow.turn.begin(0, NOW)
    flow.turn.leave(NOW)
    flow.complete(1)
    assert flow.line.said == ["request"], "one is still out"
    flow.complete(2)
    assert flow.line.said == ["request", "give back, more"]
    flow.go_on(NOW)
    assert flow.line.said == ["request", "give back, more"], "it waits already"
    assert [type(action) for action in flow.done] == [SetRate, PostSend, PostSend]


def test_one_that_rests_gives_back_at_once(flow: Flow) -> None:
    flow.submit(1)
    flow.turn.begin(0, NOW)
    flow.complete(1)
    flow.is_running = False
    flow.go_on(NOW)
    flow.turn.leave(NOW)
    assert flow.line.said == ["request", "idle", "give back, no more"]


def test_a_rate_that_is_still_on_its_way_keeps_the_limiter(flow: Flow) -> None:
    """It would come to the limiter when another flow has it."""
    flow.submit(1)
    flow.turn.begin(0, NOW)
    flow.complete(1)
    flow.may_leave = False
    flow.turn.leave(NOW)
    assert flow.line.said == ["request"]
    flow.may_leave = True
    flow.turn.update(NOW)
    assert flow.line.said == ["request", "give back, more"]


def test_a_flow_that_is_over_gives_back_unasked(flow: Flow) -> None:
    flow.submit(1)
    flow.turn.begin(0, NOW)
    flow.turn.end(NOW)
    assert flow.line.said == ["request"], "its verb is still out"
    flow.complete(1)
    assert flow.line.said == ["request", "give back, no more"]
    flow.turn.end(NOW)
    flow.turn.leave(NOW)
    assert flow.line.said == ["request", "give back, no more"], (
        "it has nothing any more that it could be asked for"
    )


def test_a_flow_that_is_over_gives_back_when_its_last_rate_has_arrived(flow: Flow) -> None:
    flow.submit(1)
    flow.turn.begin(0, NOW)
    flow.complete(1)
    flow.may_leave = False
    flow.turn.end(NOW)
    flow.turn.leave(NOW)
    assert flow.line.said == ["request"]
    flow.may_leave = True
    flow.turn.update(NOW)
    flow.turn.update(NOW)
    assert flow.line.said == ["request", "give back, no more"]
