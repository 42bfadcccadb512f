"""Tests: wait for descriptors and deadlines, on a real or a virtual clock."""

import os
import select
from collections.abc import Iterator, Sequence

import pytest
from helpers.ticking_clock import TickingClock

from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.poller import ExactPoller, Poller, VirtualClock


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_a_watcher_is_called_with_the_time(pipe: tuple[int, int]) -> None:
    poller, called = Poller(TickingClock().read), list[int]()
    poller.watch(pipe[0], called.append)
    os.write(pipe[1], b"x")
    poller.turn(None)
    assert called == [2_000]
    assert poller.waiting_ns == 1_000


@pytest.mark.parametrize(("is_punctual", "slept_ms"), [(False, [8, 1]), (True, [7, 0])])
def test_a_punctual_poller_never_sleeps_beyond_a_deadline(
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


def test_a_watcher_that_has_left_is_not_called(pipe: tuple[int, int]) -> None:
    poller, called = Poller(TickingClock().read), list[int]()
    poller.watch(pipe[0], called.append)
    poller.turn(HostNs(0))
    os.write(pipe[1], b"x")
    poller.leave(pipe[0])
    poller.turn(HostNs(0))
    assert called == []


def test_a_watcher_that_leaves_during_a_turn_is_not_called(pipe: tuple[int, int]) -> None:
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


def test_a_spinner_is_called_each_turn_without_sleep() -> None:
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


class Kernel:
    """A clock that only sleeping moves on; `slept_s` are the sleeps."""

    def __init__(self) -> None:
        self.now_ns = 1_000
        self.slept_s: list[float | None] = []
        self.reads = 0

    def read(self) -> int:
        self.reads += 1
        return self.now_ns

    def sleep(
        self, readers: Sequence[int], writers: Sequence[int], _others: Sequence[int], left_s: float | None
    ) -> tuple[list[int], list[int], list[int]]:
        self.slept_s.append(left_s)
        self.now_ns += round((left_s or 0.0) * 1e9)
        return _select(readers, writers, (), 0)


_select = select.select


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    fake = Kernel()
    monkeypatch.setattr(select, "select", fake.sleep)
    return fake


def test_an_exact_poller_sleeps_to_the_deadline(kernel: Kernel) -> None:
    poller = ExactPoller(VirtualClock(kernel.read))
    poller.turn(HostNs(31_500))
    assert kernel.slept_s == [30.5e-6]
    assert poller.waiting_ns == 30_500
    poller.turn(HostNs(31_500))
    assert kernel.slept_s[1] == 0
    poller.turn(None)
    assert kernel.slept_s[2] is None
    poller.be_punctual()
    poller.turn(HostNs(62_500))
    assert kernel.slept_s[3] == 31e-6, "a punctual one sleeps too"


def test_the_virtual_clock_is_read_once_per_sleep(kernel: Kernel, pipe: tuple[int, int]) -> None:
    clock, called = VirtualClock(kernel.read), list[int]()
    poller = ExactPoller(clock)
    poller.watch(pipe[0], called.append)
    os.write(pipe[1], b"x")
    poller.turn(HostNs(2_000))
    assert (kernel.reads, called) == (2, [2_000])
    kernel.now_ns = 9_000
    assert clock.host_ns() == 2_000, "it does not advance without a sleep"


def test_readers_and_writers_are_distinguished(kernel: Kernel, pipe: tuple[int, int]) -> None:
    poller, called = ExactPoller(VirtualClock(kernel.read)), list[str]()
    poller.watch(pipe[0], lambda _now: called.append("reader"))
    poller.watch(pipe[1], lambda _now: called.append("writer"), select.POLLOUT)
    poller.turn(None)
    os.write(pipe[1], b"x")
    poller.turn(None)
    poller.leave(pipe[1])
    poller.turn(None)
    assert called == ["writer", "reader", "writer", "reader"]


def test_a_new_watch_replaces_the_old_one(kernel: Kernel, pipe: tuple[int, int]) -> None:
    poller, called = ExactPoller(VirtualClock(kernel.read)), list[int]()
    poller.watch(pipe[1], called.append, select.POLLOUT)
    poller.watch(pipe[1], called.append)
    poller.turn(None)
    assert called == []


def test_an_exact_poller_with_a_spinner_does_not_sleep(kernel: Kernel) -> None:
    poller, called = ExactPoller(VirtualClock(kernel.read)), list[int]()
    poller.spin(called.append)
    poller.turn(HostNs(5_000))
    assert (kernel.slept_s, called) == ([0], [1_000])
