import ctypes
from types import SimpleNamespace
from typing import cast

import pytest
from helpers.fake_verbs_device import FakeError
from helpers.fake_verbs_network import Fabric, QpAttributes

from rogue.agent.core.actions import PostSend
from rogue.agent.core.errors import PostRefused
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.drivers.verbs.endpoint import Endpoint
from rogue.agent.drivers.verbs.pyverbs import VerbsError
from rogue.agent.drivers.verbs.queue_pair import PathAttributes, RemoteQueuePair, mtu_code, mtu_of_code, tos

PORT = PortAddress("rxe0", 2, 3, "0000:0000:0000:0000:0000:ffff:0a09:0001", 0)
PEER = RemoteQueuePair("0000:0000:0000:0000:0000:ffff:0a09:0002", 21, 99)


@pytest.mark.parametrize(("mtu_bytes", "code"), [(256, 1), (512, 2), (1024, 3), (2048, 4), (4096, 5)])
def test_mtus_have_the_numbers_of_ibv_mtu(mtu_bytes: int, code: int) -> None:
    assert (mtu_code(mtu_bytes), mtu_of_code(code)) == (code, mtu_bytes)


@pytest.mark.parametrize("mtu_bytes", [0, 128, 1000, 1500, 8192])
def test_any_other_mtu_is_an_error(mtu_bytes: int) -> None:
    with pytest.raises(VerbsError, match=r"is not one of 256, 512, 1024, 2048, 4096"):
        mtu_code(mtu_bytes)


def test_the_attributes_of_a_connection(requester: Endpoint, fabric: Fabric) -> None:
    requester.queue_pair.connect(PORT, 77, PEER, PathAttributes(2048, retry_count=1, timeout_exponent=14))
    attributes = fabric.queue_pairs[requester.queue_pair.qp_num].attributes
    assert attributes is not None
    assert (attributes.port_num, attributes.path_mtu) == (2, 4)
    assert (attributes.dest_qp_num, attributes.rq_psn, attributes.sq_psn) == (21, 99, 77)
    assert (attributes.timeout, attributes.retry_cnt, attributes.rnr_retry) == (14, 1, 7)


def test_a_refused_connection_names_the_queue_pair(requester: Endpoint) -> None:
    invalid = RemoteQueuePair(PEER.gid, 0, 99)
    with pytest.raises(VerbsError, match=r"ibv_modify_qp on queue pair 17: .*Errno: 22"):
        requester.queue_pair.connect(PORT, 77, invalid, PathAttributes(1024, 1, 14))


@pytest.mark.parametrize("failures", [1, 4, 5])
def test_a_late_address_of_the_peer_is_resolved_again(
    requester: Endpoint, fabric: Fabric, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    pair = fabric.queue_pairs[requester.queue_pair.qp_num]
    to_rts, left = (
        pair.to_rts,
        [FakeError("Failed to modify QP state to RTR. Errno: 110, Timed out")] * failures,
    )

    def late(attributes: QpAttributes) -> None:
        if left:
            pair.state = "INIT"
            raise left.pop()
        to_rts(attributes)

    monkeypatch.setattr(pair, "to_rts", late)
    path = PathAttributes(1024, 1, 14)
    if failures == 5:
        with pytest.raises(VerbsError, match=r"Errno: 110"):
            requester.queue_pair.connect(PORT, 77, PEER, path)
    else:
        requester.queue_pair.connect(PORT, 77, PEER, path)
        assert pair.state == "RTS"


def places(requester: Endpoint, responder: Endpoint, offset_bytes: int = 0) -> tuple[tuple[int, int], ...]:
    """The same place of both memories."""
    return tuple(
        (buffer.address + offset_bytes, key)
        for buffer, key in (
            (requester.buffer, requester.buffer.lkey),
            (responder.buffer, responder.buffer.rkey),
        )
    )


@pytest.mark.parametrize(("dscp", "traffic_class"), [(None, 3 << 5 | 2), (26, 106)])
def test_a_priority_is_the_service_level_and_without_a_dscp_part_of_the_tos(
    requester: Endpoint, fabric: Fabric, dscp: int | None, traffic_class: int
) -> None:
    """A DSCP is the byte's six highest bits: 26 is 104 in it, and 106 with ECN-capable."""
    requester.queue_pair.connect(PORT, 77, PEER, PathAttributes(2048, 1, 14, priority=3, dscp=dscp))
    attributes = fabric.queue_pairs[requester.queue_pair.qp_num].attributes
    assert attributes is not None
    address = cast("SimpleNamespace", attributes.ah_attr)
    assert (address.sl, address.gr.traffic_class) == (3, traffic_class)
    assert tos(0, 26) == tos(7, 26) == 104


def test_a_write_goes_to_its_offset(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, responder = connected
    ctypes.memmove(requester.buffer.address + 500, b"payload", 7)
    requester.queue_pair.post(PostSend(1, 1, 500, 7, signaled=True), *places(requester, responder, 500))
    assert ctypes.string_at(responder.buffer.address + 499, 9) == b"\0payload\0"
    assert [entry[:2] for poll in requester.queue.drain() for entry in poll] == [(1, 0)]


def test_a_read_copies_the_memory_of_the_peer(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, responder = connected
    ctypes.memmove(responder.buffer.address, b"payload", 7)
    send = PostSend(1, 1, 0, 7, signaled=True, verb="read")
    requester.queue_pair.post(send, *places(requester, responder))
    assert ctypes.string_at(requester.buffer.address, 8) == b"payload\0"


def test_an_unsignalled_write_has_no_completion(connected: tuple[Endpoint, Endpoint]) -> None:
    requester, responder = connected
    ctypes.memmove(requester.buffer.address, b"payload", 7)
    requester.queue_pair.post(PostSend(1, 1, 0, 7, signaled=False), *places(requester, responder))
    assert ctypes.string_at(responder.buffer.address, 7) == b"payload"
    assert list(requester.queue.drain()) == []


def test_a_full_send_queue_refuses_the_post(connected: tuple[Endpoint, Endpoint], fabric: Fabric) -> None:
    requester, responder = connected
    fabric.queue_pairs[requester.queue_pair.qp_num].refuses = True
    with pytest.raises(PostRefused, match=r"ibv_post_send: .*Errno: 12"):
        requester.queue_pair.post(PostSend(1, 1, 0, 7, signaled=True), *places(requester, responder))


def test_a_reset_queue_pair_comes_back_with_new_packet_numbers(
    connected: tuple[Endpoint, Endpoint], fabric: Fabric
) -> None:
    requester, _ = connected
    number = requester.queue_pair.qp_num
    requester.queue_pair.reset()
    assert fabric.queue_pairs[number].state == "RESET"
    requester.queue_pair.ready(sq_psn=123, rq_psn=456)
    attributes = fabric.queue_pairs[number].attributes
    assert attributes is not None
    assert (attributes.sq_psn, attributes.rq_psn, attributes.dest_qp_num) == (123, 456, number + 1)
    with pytest.raises(VerbsError, match="not in RESET"):
        requester.queue_pair.ready(1, 2)
