import socket
from contextlib import ExitStack
from dataclasses import replace

import pytest
from helpers.fake_verbs_network import Fabric
from helpers.fake_verbs_queues import WorkCompletion
from helpers.verbs_ends import PLAN, connect

from rogue_agent.drivers.verbs import clock
from rogue_agent.drivers.verbs.completion_queue import EventQueue
from rogue_agent.drivers.verbs.discovery import PortAddress
from rogue_agent.drivers.verbs.endpoint import Endpoint, opened
from rogue_agent.drivers.verbs.errors import VerbsError
from rogue_agent.drivers.verbs.pyverbs import Pyverbs


def test_an_endpoint_knows_its_mtu_and_has_a_psn_of_24_bits(requester: Endpoint) -> None:
    assert requester.active_mtu_bytes == 4096
    assert all(0 <= psn < 1 << 24 for psn in requester.psns)


def test_leaving_gives_everything_back(pyverbs: Pyverbs, fabric: Fabric) -> None:
    port = PortAddress("rxe0", 1, 1, "0000:0000:0000:0000:0000:ffff:0a09:0001", 0)
    with opened(pyverbs, port, PLAN, clock.nic_ns):
        assert len(fabric.queue_pairs) == 1
    assert fabric.queue_pairs == {}


def test_a_device_that_does_not_open_is_named(pyverbs: Pyverbs) -> None:
    port = PortAddress("mlx9_9", 1, 1, "0000:0000:0000:0000:0000:ffff:0a09:0001", 0)
    with (
        pytest.raises(VerbsError, match="device mlx9_9, port 1: Failed to open device"),
        opened(pyverbs, port, PLAN, clock.nic_ns),
    ):
        pytest.fail("opened a device that does not exist")


def test_a_shadow_comes_with_a_side_channel(stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric) -> None:
    plan = replace(PLAN, has_shadow=True)
    endpoint = stack.enter_context(opened(pyverbs, requester_port(), plan, clock.nic_ns))
    assert len({pair.qp_num for pair in endpoint.pairs}) == len(endpoint.psns) == 2
    assert endpoint.side is not None
    assert len(fabric.queue_pairs) == 3


def queue_of(endpoint: Endpoint) -> EventQueue:
    assert isinstance(endpoint.queue, EventQueue)
    return endpoint.queue


def requester_port() -> PortAddress:
    return PortAddress("rxe0", 1, 1, "0000:0000:0000:0000:0000:ffff:0a09:0001", 0)


def test_a_poll_is_sorted_and_receives_are_posted_again(
    stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric
) -> None:
    plan = replace(PLAN, service="uc", receives=4)
    here, there = (
        stack.enter_context(opened(pyverbs, requester_port(), plan, clock.nic_ns)) for _ in range(2)
    )
    connect(here, there)
    receives = fabric.queue_pairs[here.queue_pair.qp_num].receives
    taken = receives.popleft()
    queue_of(here).cq.push(WorkCompletion(taken.wr_id, 0, 65_536, socket.htonl(5), 2))
    queue_of(here).cq.push(WorkCompletion(1, 0))
    (completions,) = here.queue.drain()
    arrived = here.sort(completions)
    assert [entry[0] for entry in arrived.sends] == [1]
    assert [(entry[3], entry[4]) for entry in arrived.receives[here.queue_pair.qp_num]] == [(65_536, 5)]
    assert [each.wr_id for each in receives][-1] == taken.wr_id


def test_receives_of_an_earlier_life_and_flushed_ones_are_dropped(
    stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric
) -> None:
    plan = replace(PLAN, receives=4)
    here, there = (
        stack.enter_context(opened(pyverbs, requester_port(), plan, clock.nic_ns)) for _ in range(2)
    )
    connect(here, there)
    number = here.queue_pair.qp_num
    early = fabric.queue_pairs[number].receives[0].wr_id
    here.reset(number)
    here.ready(number, 1, 2)
    late = fabric.queue_pairs[number].receives[0].wr_id
    assert early != late
    queue_of(here).cq.push(WorkCompletion(early, 0, 8))
    queue_of(here).cq.push(WorkCompletion(late, 5))
    (completions,) = here.queue.drain()
    assert here.sort(completions).receives == {}
