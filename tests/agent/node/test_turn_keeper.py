"""The keeper of a card's limiters: real sockets, and flows that are processes where they may die."""

import os
import select
import signal
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import TURN_NS
from rogue.agent.drivers.limiters import SLOTS
from rogue.agent.drivers.limiters.base import LimiterError, LimiterSlots, PacedInterface
from rogue.agent.drivers.limiters.borrowed import BACK, BorrowedLimiters
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable
from rogue.agent.node.forked import ForkedProcess
from rogue.agent.node.messages import Prepare
from rogue.agent.node.turn_keeper import Lending, TurnKeeper, keep_turns, place_of
from rogue.agent.node.wire import listener_at

NOW = HostNs(0)
PATIENCE_S = 60
ADDRESS = "10.9.0.1"
PORT = PortAddress("mlx4_0", 1, 1, "", 10**10, "eth1", "mlx4_core")


@pytest.fixture
def directory() -> Iterator[Path]:
    """A short name: that of a socket has 107 characters at most."""
    with tempfile.TemporaryDirectory(prefix="turns-") as place:
        yield Path(place)


@dataclass
class Flow:
    """A flow that only writes down what it is told."""

    lender: BorrowedLimiters
    told: list[str] = field(default_factory=list)
    noted: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lender.attach(self, lambda _now, event, detail: self.noted.append((event, detail)))

    def begin(self, limiter: int, now: HostNs) -> None:
        self.told.append(f"use {limiter}")

    def leave(self, now: HostNs) -> None:
        self.told.append("leave")

    def hear(self) -> str:
        """Wait for one word of the keeper."""
        self.lender.hear(NOW)
        return self.told[-1]


class Hall:
    """A keeper in this process, which takes a turn when it is told to, and a clock that stands still."""

    def __init__(self, directory: Path, priorities: tuple[int, ...], refusal: str = "") -> None:
        self.now = 0
        self.lifted: list[int] = []
        self._flows: list[Flow] = []
        self.place = place_of(directory, ADDRESS)
        self._listener = listener_at(self.place)
        self._source, self.sink = os.pipe()
        poller = Poller(lambda: HostNs(self.now))
        lending = Lending(priorities, self.lifted.append)
        self.keeper = TurnKeeper(self._source, self._listener, lending, poller, refusal)

    def enter(self) -> Flow:
        """A flow that comes, and is greeted."""
        with ThreadPoolExecutor(1) as knocking:
            knock = knocking.submit(BorrowedLimiters, self.place)
            self.keeper.turn()
            flow = Flow(knock.result(PATIENCE_S))
        self._flows.append(flow)
        return flow

    def close(self) -> None:
        for flow in self._flows:
            flow.lender.close()
        self.keeper.close()
        self._listener.close()
        os.close(self._source)
        os.close(self.sink)


@pytest.fixture
def hall(directory: Path) -> Iterator[Hall]:
    """Two limiters, those of priorities 4 and 6."""
    with closing(Hall(directory, (4, 6))) as opened:
        yield opened


def test_worked_example(hall: Hall) -> None:
    """Two limiters and three flows: after 10 ms the one that held longest makes room for the third."""
    a, b, c = (hall.enter() for _ in range(3))
    for flow in (a, b, c):
        flow.lender.ask(NOW)
        hall.keeper.turn()
    assert (a.hear(), b.hear()) == ("use 4", "use 6")
    hall.now = TURN_NS
    hall.keeper.turn()
    assert a.hear() == "leave"
    a.lender.give_back(NOW, wants_more=True)
    hall.keeper.turn()
    assert c.hear() == "use 4"
    b.lender.rest(NOW)
    hall.keeper.turn()
    assert b.hear() == "leave", "the first one waits again"
    b.lender.give_back(NOW, wants_more=False)
    hall.keeper.turn()
    assert a.hear() == "use 6"
    assert a.noted == [("turn", "priority 4"), ("turn_over", "priority 4"), ("turn", "priority 6")]
    assert hall.lifted == [], "whoever comes next programs the limiter first"


def test_what_one_leaves_is_lifted_before_it_is_lent_again(hall: Hall) -> None:
    flows = [hall.enter() for _ in range(4)]
    for flow in flows:
        flow.lender.ask(NOW)
        hall.keeper.turn()
    waiting = flows.pop(2)
    waiting.lender.close()
    hall.keeper.turn()
    assert hall.lifted == [], "it only waited"
    flows[0].lender.close()
    hall.keeper.turn()
    assert hall.lifted == [4]
    assert flows[2].hear() == "use 4"


def test_whoever_talks_nonsense_is_sent_away(hall: Hall) -> None:
    """Giving back what one does not have is nonsense, too."""
    for nonsense in (b"more!", BACK):
        flow = hall.enter()
        os.write(flow.lender.fileno(), nonsense)
        hall.keeper.turn()
        with pytest.raises(LimiterError, match="their keeper has ended"):
            flow.hear()


def test_only_the_user_may_connect(hall: Hall) -> None:
    assert hall.place.stat().st_mode & 0o777 == 0o600


def test_a_refusal_is_told_to_each(directory: Path) -> None:
    with closing(Hall(directory, (), "limiter 4 of eth1 is taken by another flow of this host")) as hall:
        for _ in range(2):
            with pytest.raises(
                LimiterError, match="turns at limiters: limiter 4 of eth1 is taken by another"
            ):
                hall.enter()


def test_where_no_keeper_is_a_flow_is_told_so(directory: Path) -> None:
    with pytest.raises(LimiterError, match=r"no keeper listens at turns-10\.9\.0\.1"):
        BorrowedLimiters(place_of(directory, ADDRESS))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["ask", "rest", "obey", "time", "die"]), st.integers(0, 4)), max_size=40
    )
)
def test_never_more_turns_than_limiters_and_everybody_is_served(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory(prefix="turns-") as place, closing(Hall(Path(place), (4, 6))) as hall:
        model = Model(hall, [hall.enter() for _ in range(5)])
        for step, number in steps:
            model.do(step, number)
        for _ in range(20):
            model.do("time", 0)
            for number in range(5):
                model.do("obey", number)
        assert model.waiting == set()


class Model:
    """What five flows know; each obeys when it is told to."""

    def __init__(self, hall: Hall, flows: list[Flow]) -> None:
        self.hall, self.flows = hall, flows
        self.alive = set(range(len(flows)))
        self.waiting: set[int] = set()
        self.held: dict[int, str] = {}
        self.asked: set[int] = set()

    def do(self, step: str, number: int) -> None:
        """Let one flow do something, and everybody hear what comes of it."""
        if step == "time":
            self.hall.now += TURN_NS
            if self.hall.keeper._pool.deadline_ns is not None:
                self.hall.keeper.turn()
        elif number in self.alive and getattr(self, step)(number, self.flows[number].lender):
            self.hall.keeper.turn()
        self._listen()
        assert len(self.held) == len(set(self.held.values())) <= 2

    def ask(self, number: int, lender: BorrowedLimiters) -> bool:
        lender.ask(NOW)
        self.waiting |= {number} - self.held.keys()
        return True

    def rest(self, number: int, lender: BorrowedLimiters) -> bool:
        if number in self.held:
            lender.rest(NOW)
        return number in self.held

    def obey(self, number: int, lender: BorrowedLimiters) -> bool:
        if number not in self.asked:
            return False
        self.asked.remove(number)
        del self.held[number]
        lender.give_back(NOW, wants_more=False)
        return True

    def die(self, number: int, lender: BorrowedLimiters) -> bool:
        self.alive.remove(number)
        self.waiting.discard(number)
        self.asked.discard(number)
        self.held.pop(number, None)
        lender.close()
        return True

    def _listen(self) -> None:
        while ready := select.select([self.flows[number].lender for number in self.alive], (), (), 0)[0]:
            for number in [each for each in self.alive if self.flows[each].lender in ready]:
                word = self.flows[number].hear()
                if word == "leave":
                    self.asked.add(number)
                else:
                    self.held[number] = word
                    self.waiting.remove(number)


@dataclass
class Lifts(LimiterSlots):
    """Says on a pipe what was lifted."""

    pipe: int

    def lift(self, priority: int) -> None:
        os.write(self.pipe, f"{priority} ".encode())

    def close(self) -> None:
        os.write(self.pipe, b"closed")


def holder(place: Path, _source: int, sink: int) -> int:
    """A flow in a process of its own: says what it was lent, and waits to be killed."""
    lender = BorrowedLimiters(place)
    told: list[str] = []

    class Borrower:
        def begin(self, limiter: int, now: HostNs) -> None:
            told.append(str(limiter))

        def leave(self, now: HostNs) -> None:
            """Nothing."""

    lender.attach(Borrower(), lambda _now, _event, _detail: None)
    lender.ask(NOW)
    while not told:
        lender.hear(NOW)
    os.write(sink, told[0].encode())
    signal.pause()
    return 0


def test_a_killed_process_leaves_its_limiter_to_the_next(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One limiter, four processes; each is killed while it has it. In the end the keeper's parent is gone."""
    lifted, lifting = os.pipe()
    monkeypatch.setitem(SLOTS, "htb", lambda _interface, _priorities: Lifts(lifting))
    place, flows = place_of(directory, ADDRESS), list[ForkedProcess]()
    request = Prepare("a", 1, "requester", ADDRESS, "rogue", 100, limiter="htb", priority=3, turns=[3])
    with listener_at(place) as listener:
        keeper = ForkedProcess(
            lambda source, _sink: keep_turns(
                request, lambda _address: PORT, listener, Poller(clock.host_ns), source
            ),
            directory / "keeper.log",
            [listener.fileno(), lifting],
        )
    for number in range(4):
        flows.append(ForkedProcess(partial(holder, place), directory / f"flow{number}.log"))
    by_output = {flow.stdout.fileno(): flow for flow in flows}
    for _ in range(4):
        (ready, *others), _, _ = select.select(by_output, (), (), PATIENCE_S)
        assert others == [], "one has it at a time"
        assert os.read(ready, 100) == b"3"
        flow = by_output.pop(ready)
        flow.kill()
        assert flow.wait(PATIENCE_S) == -signal.SIGKILL
    keeper.stdin.close()
    assert keeper.wait(PATIENCE_S) == 0
    assert os.read(lifted, 100) == b"3 3 3 3 closed"
    for process in (*flows, keeper):
        process.stdin.close()
        process.stdout.close()
    os.close(lifted)
    os.close(lifting)


@pytest.mark.parametrize(
    "error", [LimiterError("limiter 3 is taken"), VerbsUnavailable("no GID for 10.9.0.1")]
)
def test_limiters_that_are_not_to_be_had_are_refused_to_each_flow(
    directory: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(_interface: PacedInterface, _priorities: object) -> LimiterSlots:
        raise error

    monkeypatch.setitem(SLOTS, "htb", refuse)
    request = Prepare("a", 1, "requester", ADDRESS, "rogue", 100, limiter="htb", priority=3, turns=[3])
    place = place_of(directory, ADDRESS)
    with listener_at(place) as listener:
        keeper = ForkedProcess(
            lambda source, _sink: keep_turns(
                request, lambda _address: PORT, listener, Poller(clock.host_ns), source
            ),
            directory / "keeper.log",
            [listener.fileno()],
        )
    with pytest.raises(LimiterError, match=str(error)):
        BorrowedLimiters(place)
    keeper.stdin.close()
    assert keeper.wait(PATIENCE_S) == 0
    keeper.stdout.close()


def test_what_cannot_be_lifted_ends_nobody(hall: Hall, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_priority: int) -> None:
        raise LimiterError("the card is gone")

    object.__setattr__(hall.keeper._lending, "lift", fail)
    a, b, c = (hall.enter() for _ in range(3))
    for flow in (a, b, c):
        flow.lender.ask(NOW)
        hall.keeper.turn()
    a.lender.close()
    hall.keeper.turn()
    assert c.hear() == "use 4"
    assert capsys.readouterr().err == "a limit cannot be lifted: the card is gone\n"
