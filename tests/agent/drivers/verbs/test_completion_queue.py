import socket
from pathlib import Path

import pytest
from helpers.fake_verbs_device import Context
from helpers.fake_verbs_queues import WorkCompletion

from rogue.agent.core.clocks import NicNs
from rogue.agent.drivers.verbs.completion_queue import EventQueue, event_descriptors
from rogue.agent.drivers.verbs.pyverbs import Pyverbs


@pytest.fixture
def queue(pyverbs: Pyverbs) -> EventQueue:
    instants = iter(range(1000, 2000))
    return EventQueue(pyverbs, Context("rxe0"), 128, lambda: NicNs(next(instants)))


def test_the_channels_descriptor_is_found(queue: EventQueue) -> None:
    assert queue.descriptor in event_descriptors()
    queue.close()


def test_descriptors_that_are_something_else_are_passed_over(tmp_path: Path, pyverbs: Pyverbs) -> None:
    (tmp_path / "3").symlink_to("anon_inode:[eventfd]")
    (tmp_path / "4").symlink_to("socket:[12]")
    (tmp_path / "5").write_text("no link at all")
    assert event_descriptors(tmp_path) == {3}


def test_entries_come_as_the_cores_completions_stamped_once_per_poll(queue: EventQueue) -> None:
    queue.cq.push(WorkCompletion(1, 0, byte_len=65_536))
    queue.cq.push(WorkCompletion(2, 12))
    assert list(queue.drain()) == [[(1, 0, 1000, 65_536, None), (2, 12, 1000, 0, None)]]
    assert list(queue.drain()) == []


def test_an_immediate_is_given_in_host_order_and_only_if_there_is_one(queue: EventQueue) -> None:
    queue.cq.push(WorkCompletion(1, 0, imm_data=socket.htonl(7), wc_flags=2))
    queue.cq.push(WorkCompletion(2, 0, imm_data=99, wc_flags=0))
    ((with_one, without),) = queue.drain()
    assert (with_one[4], without[4]) == (7, None)


def test_a_long_queue_is_drained_poll_by_poll(queue: EventQueue) -> None:
    for wr_id in range(1, 71):
        queue.cq.push(WorkCompletion(wr_id, 0))
    polls = list(queue.drain())
    assert [len(poll) for poll in polls] == [32, 32, 6]
    assert [entry[0] for poll in polls for entry in poll] == list(range(1, 71))


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
