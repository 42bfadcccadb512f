import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_verbs import fake_sysfs
from helpers.fake_verbs_device import FakeError, WorkCompletion
from helpers.fake_verbs_network import Fabric
from helpers.verbs_ends import PLAN, PORT, connect

from rogue.agent.core.actions import PostSend
from rogue.agent.drivers.verbs import clock, discovery
from rogue.agent.drivers.verbs.completion_queue import EventQueue
from rogue.agent.drivers.verbs.endpoint import Endpoint, opened
from rogue.agent.drivers.verbs.pyverbs import Pyverbs, VerbsError


def test_an_endpoint_knows_its_mtu_and_has_a_psn_of_24_bits(requester: Endpoint) -> None:
    assert requester.active_mtu_bytes == 4096
    assert all(0 <= psn < 1 << 24 for psn in requester.psns)


def test_closing_releases_everything(pyverbs: Pyverbs, fabric: Fabric) -> None:
    with opened(pyverbs, PORT, PLAN, clock.nic_ns):
        assert len(fabric.queue_pairs) == 1
    assert fabric.queue_pairs == {}


def test_a_device_that_does_not_open_is_an_error(pyverbs: Pyverbs) -> None:
    with (
        pytest.raises(VerbsError, match="device mlx9_9, port 1: Failed to open device"),
        opened(pyverbs, replace(PORT, device="mlx9_9"), PLAN, clock.nic_ns),
    ):
        pytest.fail("opened a device that does not exist")


def test_a_shadow_comes_with_a_side_channel(stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric) -> None:
    plan = replace(PLAN, has_shadow=True)
    endpoint = stack.enter_context(opened(pyverbs, PORT, plan, clock.nic_ns))
    assert len({pair.qp_num for pair in endpoint.pairs}) == len(endpoint.psns) == 2
    assert endpoint.side is not None
    assert len(fabric.queue_pairs) == 3


def pair_of(stack: ExitStack, pyverbs: Pyverbs, **plan: Any) -> tuple[Endpoint, Endpoint]:
    """Two connected endpoints with the same plan."""
    here, there = (
        stack.enter_context(opened(pyverbs, PORT, replace(PLAN, **plan), clock.nic_ns)) for _ in range(2)
    )
    connect(here, there)
    return here, there


def queue_of(endpoint: Endpoint) -> EventQueue:
    assert isinstance(endpoint.queue, EventQueue)
    return endpoint.queue


def test_a_poll_is_sorted_and_receives_are_posted_again(
    stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric
) -> None:
    here, _ = pair_of(stack, pyverbs, service="uc", receives=4)
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
    here, _ = pair_of(stack, pyverbs, receives=4)
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


def priorities(fabric: Fabric, endpoint: Endpoint) -> list[int]:
    """Service levels of the queue pairs, at the device."""
    attributes = [fabric.queue_pairs[pair.qp_num].attributes for pair in endpoint.pairs]
    return [each.ah_attr.sl for each in attributes if each is not None]  # type: ignore[attr-defined]


def write(here: Endpoint, there: Endpoint, wr_id: int) -> int:
    """Post one verb and return the status of its completion."""
    local, remote = (here.buffer.address, here.buffer.lkey), (there.buffer.address, there.buffer.rkey)
    here.queue_pair.post(PostSend(wr_id, 1, 0, 8, True, "write", None), local, remote)
    (completions,) = here.queue.drain()
    assert completions[0][0] == wr_id
    return completions[0][1]


def test_the_peer_does_not_notice_a_move_to_another_priority(
    stack: ExitStack, pyverbs: Pyverbs, fabric: Fabric
) -> None:
    """Main and shadow move; packet numbers continue, and receives are those of a new life."""
    here, there = pair_of(stack, pyverbs, has_shadow=True, receives=4)
    assert [write(here, there, wr_id) for wr_id in (1, 2)] == [0, 0]
    early = fabric.queue_pairs[here.queue_pair.qp_num].receives[0].wr_id
    here.move(5)
    assert priorities(fabric, here) == [5, 5]
    assert priorities(fabric, there) == [0, 0]
    receives = fabric.queue_pairs[here.queue_pair.qp_num].receives
    assert len(receives) == 4 and receives[0].wr_id != early
    assert [write(here, there, wr_id) for wr_id in (3, 4)] == [0, 0]
    late = receives[0].wr_id
    here.move(5)
    assert receives[0].wr_id == late, "it is there already"


@pytest.mark.parametrize("index", [0, 4])
def test_a_recovery_finds_the_new_index_of_the_gid(
    stack: ExitStack,
    pyverbs: Pyverbs,
    fabric: Fabric,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    index: int,
) -> None:
    """An interface that goes down loses its addresses, and their GIDs come back at other places."""
    monkeypatch.setattr(discovery, "SYSFS", tmp_path)
    fake_sysfs(tmp_path, PORT.gid)
    here, _ = pair_of(stack, pyverbs, has_shadow=True)
    table = tmp_path / "rxe0" / "ports" / "1"
    (table / "gids" / "1").write_text("0000" + ":0000" * 7)
    (table / "gids" / str(index)).write_text(f"{PORT.gid}\n")
    (table / "gid_attrs" / "types" / str(index)).write_text("RoCE v2\n")
    here.reset(here.queue_pair.qp_num)
    here.ready(here.queue_pair.qp_num, 5, 6)
    attributes: Any = fabric.queue_pairs[here.queue_pair.qp_num].attributes
    assert here.side is not None
    handle: Any = here.side._handle
    assert (attributes.ah_attr.gr.sgid_index, handle.attr.gr.sgid_index) == (index, index)


def test_a_queue_pair_in_reset_moves_when_it_is_ready(
    connected: tuple[Endpoint, Endpoint], fabric: Fabric
) -> None:
    here, there = connected
    number = here.queue_pair.qp_num
    here.reset(number)
    here.move(3)
    assert fabric.queue_pairs[number].state == "RESET"
    here.ready(number, here.psns[0], there.psns[0])
    assert priorities(fabric, here) == [3]
    assert write(here, there, 1) == 0
    fabric.queue_pairs[number].state = "ERR"
    here.move(4)
    assert fabric.queue_pairs[number].state == "ERR"


def test_a_failed_query_of_packet_numbers_is_an_error(
    connected: tuple[Endpoint, Endpoint], fabric: Fabric, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = connected

    def refuse(mask: int) -> None:
        raise FakeError("Failed to query QP. Errno: 95, Operation not supported")

    monkeypatch.setattr(fabric.queue_pairs[here.queue_pair.qp_num], "query", refuse)
    with pytest.raises(VerbsError, match=r"ibv_query_qp on queue pair \d+: .*Errno: 95"):
        here.move(3)
