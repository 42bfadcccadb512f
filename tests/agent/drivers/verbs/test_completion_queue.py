"""Tests: completion queues in event mode and in polling mode."""

import socket
from pathlib import Path

import pytest
from helpers.fake_verbs_device import Context, WorkCompletion
from helpers.ticking_clock import TickingClock

from rogue.agent.core.actions import Completion
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.completion_queue import (
    CompletionPump,
    EventQueue,
    PolledQueue,
    TimeSpent,
    event_descriptors,
)
from rogue.agent.drivers.verbs.pyverbs import Pyverbs


@pytest.fixture
def queue(pyverbs: Pyverbs) -> EventQueue:
    instants = iter(range(1000, 2000))
    return EventQueue(pyverbs, Context("rxe0"), 128, lambda: NicNs(next(instants)))


def test_the_channels_descriptor_is_found(queue: EventQueue) -> None:
    assert queue.descriptor in event_descriptors()
    queue.close()


def test_other_descriptors_are_ignored(tmp_path: Path, pyverbs: Pyverbs) -> None:
    (tmp_path / "3").symlink_to("anon_inode:[eventfd]")
    (tmp_path / "4").symlink_to("socket:[12]")
    (tmp_path / "5").write_text("no link at all")
    assert event_descriptors(tmp_path) == {3}


def test_entries_are_stamped_once_per_poll(queue: EventQueue) -> None:
    queue.cq.push(WorkCompletion(1, 0, byte_len=65_536))
    queue.cq.push(WorkCompletion(2, 12))
    assert list(queue.drain()) == [[(1, 0, 1000, 65_536, None), (2, 12, 1000, 0, None)]]
    assert list(queue.drain()) == []


def test_an_immediate_is_in_host_order(queue: EventQueue) -> None:
    queue.cq.push(WorkCompletion(1, 0, imm_data=socket.htonl(7), wc_flags=2))
    queue.cq.push(WorkCompletion(2, 0, imm_data=99, wc_flags=0))
    ((with_one, without),) = queue.drain()
    assert (with_one[4], without[4]) == (7, None)


def test_an_entry_between_rearming_and_draining_raises_another_event(queue: EventQueue) -> None:
    queue.cq.push(WorkCompletion(1, 0))
    queue.rearm()
    queue.cq.push(WorkCompletion(2, 0))
    assert [entry[0] for poll in queue.drain() for entry in poll] == [1, 2]
    queue.rearm()
    assert list(queue.drain()) == []


def test_closing_acknowledges_every_event(queue: EventQueue) -> None:
    for wr_id in (1, 2, 3):
        queue.cq.push(WorkCompletion(wr_id, 0))
        queue.rearm()
    assert queue.cq.unacknowledged == 3
    queue.close()
    assert queue.cq.unacknowledged == 0


def queue_of(pyverbs: Pyverbs, context: Context) -> PolledQueue:
    instants = iter(range(1_000, 2_000))
    return PolledQueue(pyverbs, context, 128, lambda: NicNs(next(instants)))


def test_completions_have_timestamps_of_the_nic(pyverbs: Pyverbs) -> None:
    context = Context("mlx5_0", has_clock=True, has_timestamps=True, cycles=426_000)
    queue = PolledQueue(pyverbs, context, 128, lambda: NicNs(context.cycles * 10**6 // 427_000))
    assert (queue.mode, queue.clock_name) == ("polling", "nic")
    before, reads = queue.stamp(), context.cycles
    queue.stamp()
    assert context.cycles == reads, "no post reads the card's registers"
    queue.cq.push(WorkCompletion(7, 0, 65_536))
    ((entry,),) = queue.drain()
    assert entry[:2] == (7, 0)
    assert before < entry[2] <= queue.stamp(), "posts and completions are stamped by one clock"
    assert entry[3:] == (65_536, None)


def test_only_fields_that_mlx4_has_with_timestamps_are_requested(pyverbs: Pyverbs) -> None:
    """The service level and the sender's LID. Source: rdma-core, providers/mlx4/verbs.c (create_cq)."""
    queue = queue_of(pyverbs, Context("mlx5_0", has_clock=True, has_timestamps=True))
    flags = pyverbs.enums.ibv_create_cq_wc_flags
    assert queue.cq.wc_flags == (
        flags.IBV_WC_EX_WITH_BYTE_LEN
        | flags.IBV_WC_EX_WITH_IMM
        | flags.IBV_WC_EX_WITH_SRC_QP
        | flags.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP
    )


@pytest.mark.parametrize("has_clock", [False, True])
def test_a_nic_that_refuses_timestamps_is_stamped_by_the_host(pyverbs: Pyverbs, has_clock: bool) -> None:
    queue = queue_of(pyverbs, Context("rxe0", has_clock=has_clock))
    assert queue.clock_name == "host"
    queue.cq.push(WorkCompletion(1, 0, 5))
    queue.cq.push(WorkCompletion(2, 0, 6))
    assert list(queue.drain()) == [[(1, 0, 1_000, 5, None), (2, 0, 1_000, 6, None)]]


def test_an_empty_queue_is_left_unlocked(pyverbs: Pyverbs) -> None:
    queue = queue_of(pyverbs, Context("rxe0"))
    assert list(queue.drain()) == list(queue.drain()) == []


def test_a_failed_entry_has_no_other_fields(pyverbs: Pyverbs) -> None:
    queue = queue_of(pyverbs, Context("rxe0"))
    queue.cq.push(WorkCompletion(1, 0, 8, socket.htonl(7), 2))
    queue.cq.push(WorkCompletion(2, 12, 99, 99, 2))
    ((good, bad),) = queue.drain()
    assert (good[3:], bad[3:]) == ((8, 7), (0, None))


@pytest.mark.parametrize("kind", [EventQueue, PolledQueue])
def test_a_long_queue_is_drained_poll_by_poll(
    pyverbs: Pyverbs, kind: type[EventQueue] | type[PolledQueue]
) -> None:
    queue = kind(pyverbs, Context("rxe0"), 128, clock.nic_ns)
    for wr_id in range(70):
        queue.cq.push(WorkCompletion(wr_id, 0))
    polls = list(queue.drain())
    assert [len(poll) for poll in polls] == [32, 32, 6]
    assert [entry[0] for poll in polls for entry in poll] == list(range(70))
    queue.close()


def test_the_pump_passes_all_polls_and_then_the_end(pyverbs: Pyverbs) -> None:
    queue = EventQueue(pyverbs, Context("rxe0"), 128, clock.nic_ns)
    taken: list[int] = []
    calls: list[str] = []

    def take(_now: HostNs, completions: list[Completion]) -> None:
        taken.extend(entry[0] for entry in completions)
        calls.append("poll")
        if len(calls) == 1:
            queue.cq.push(WorkCompletion(99, 0))

    for wr_id in range(40):
        queue.cq.push(WorkCompletion(wr_id, 0))
    pump = CompletionPump(queue, TickingClock().read, take, lambda _now: calls.append("empty"))
    pump.on_ready(HostNs(0))
    assert taken == [*range(40), 99]
    assert calls == ["poll", "poll", "empty"]
    assert pump.spent == TimeSpent(rearming_ns=1_000, polling_ns=3_000, deciding_ns=3_000, events=1, polls=2)
    queue.close()
