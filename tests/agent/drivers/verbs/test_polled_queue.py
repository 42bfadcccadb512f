import socket

import pytest
from helpers.fake_verbs_device import Context
from helpers.fake_verbs_queues import WorkCompletion

from rogue.agent.core.clocks import NicNs
from rogue.agent.drivers.verbs.completion_queue import PolledQueue
from rogue.agent.drivers.verbs.pyverbs import Pyverbs


def queue_of(pyverbs: Pyverbs, context: Context) -> PolledQueue:
    instants = iter(range(1_000, 2_000))
    return PolledQueue(pyverbs, context, 128, lambda: NicNs(next(instants)))


def test_completions_carry_the_nics_timestamps_where_it_has_them(pyverbs: Pyverbs) -> None:
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


def test_with_timestamps_no_field_is_asked_for_that_mlx4_refuses_beside_them(pyverbs: Pyverbs) -> None:
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


def test_immediates_come_in_host_order_and_failures_with_nothing_else(pyverbs: Pyverbs) -> None:
    queue = queue_of(pyverbs, Context("rxe0"))
    queue.cq.push(WorkCompletion(1, 0, 8, socket.htonl(7), 2))
    queue.cq.push(WorkCompletion(2, 12, 99, 99, 2))
    ((good, bad),) = queue.drain()
    assert (good[3:], bad[3:]) == ((8, 7), (0, None))


def test_a_long_queue_is_drained_poll_by_poll(pyverbs: Pyverbs) -> None:
    queue = queue_of(pyverbs, Context("rxe0"))
    for wr_id in range(40):
        queue.cq.push(WorkCompletion(wr_id, 0))
    assert [len(poll) for poll in queue.drain()] == [32, 8]
    queue.close()
