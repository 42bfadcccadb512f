import os
import select
from collections.abc import Iterator

import pytest
from helpers.ticking_clock import TickingClock

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.poller import Poller


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_whoever_watches_is_called_with_the_time(pipe: tuple[int, int]) -> None:
    poller, called = Poller(TickingClock().read), list[int]()
    poller.watch(pipe[0], called.append)
    os.write(pipe[1], b"x")
    poller.turn(None)
    assert called == [2_000]
    assert poller.waiting_ns == 1_000


def test_a_deadline_that_has_passed_is_not_waited_for(pipe: tuple[int, int]) -> None:
    poller, called = Poller(TickingClock().read), list[int]()
    poller.watch(pipe[0], called.append)
    poller.turn(HostNs(0))
    assert called == []


@pytest.mark.parametrize(("is_punctual", "slept_ms"), [(False, [8, 1]), (True, [7, 0])])
def test_a_punctual_one_never_sleeps_beyond_a_deadline(
    monkeypatch: pytest.MonkeyPatch, is_punctual: bool, slept_ms: list[int]
) -> None:
    """7.5 ms are left, then half a one."""
    clock, slept = [HostNs(0)], list[int | None]()

    class Sleeper:
        def poll(self, timeout_ms: int | None) -> list[tuple[int, int]]:
            slept.append(timeout_ms)
            return []

    monkeypatch.setattr(select, "poll", Sleeper)
    poller = Poller(lambda: clock[0])
    if is_punctual:
        poller.be_punctual()
    poller.turn(HostNs(7_500_000))
    clock[0] = HostNs(7_000_000)
    poller.turn(HostNs(7_500_000))
    assert slept == slept_ms


def test_who_has_left_is_not_called(pipe: tuple[int, int]) -> None:
    poller, called = Poller(TickingClock().read), list[int]()
    poller.watch(pipe[0], called.append)
    os.write(pipe[1], b"x")
    poller.leave(pipe[0])
    poller.turn(HostNs(0))
    assert called == []


def test_who_leaves_during_a_turn_is_not_called_in_it(pipe: tuple[int, int]) -> None:
    poller, called = Poller(TickingClock().read), list[int]()

    def leave(_now: HostNs) -> None:
        for descriptor in pipe:
            poller.leave(descriptor)
        called.append(1)

    poller.watch(pipe[0], leave)
    poller.watch(pipe[1], leave, select.POLLOUT)
    os.write(pipe[1], b"x")
    poller.turn(None)
    assert called == [1]


def test_a_spinner_is_called_each_turn_and_nobody_sleeps() -> None:
    poller, called = Poller(TickingClock().read), list[int]()
    poller.spin(called.append)
    poller.turn(None)
    poller.turn(HostNs(10**15))
    assert len(called) == 2


def test_all_but_one_may_be_left_at_once(pipe: tuple[int, int]) -> None:
    poller, called = Poller(TickingClock().read), list[str]()
    poller.watch(pipe[0], lambda _now: called.append("reader"))
    poller.watch(pipe[1], lambda _now: called.append("writer"), select.POLLOUT)
    poller.spin(lambda _now: called.append("spinner"))
    poller.leave_all_but(pipe[0])
    os.write(pipe[1], b"x")
    poller.turn(None)
    assert called == ["reader"]
    assert not poller.is_watched(pipe[1])
