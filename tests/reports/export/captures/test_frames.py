"""Frames of what is no packet of a connection, and what an AETH counts."""

from rogue.reports.export.captures.capture import Frames
from rogue.reports.export.captures.packet import Packet, addresses_of

ADDRESSES = addresses_of(["h0", "h1", "s0"])
WRITE = Packet(
    0, "h0", "h0->s0", "write", "rc", "h0", "h1", 2, 3, 4, 1086, 1024, 0,
    False, "", frozenset(), 0, 0, "", 0, 0,
)  # fmt: skip


def test_a_pause_frame() -> None:
    """Source: IEEE 802.3, annex 31D: destination, type, opcode, enable vector and eight times."""
    packet = WRITE._replace(kind="pause", node="s0", told_priorities=0b1001, paused_priorities=0b1000)
    frame = Frames([], ADDRESSES).frame(packet)
    assert frame is not None
    assert frame[:6].hex() == "0180c2000001"
    assert frame[12:34].hex() == "8808" + "0101" + "0009" + "0000" * 3 + "ffff" + "0000" * 4
    assert len(frame) == 60


def test_a_flooded_copy_has_no_frame() -> None:
    assert Frames([], ADDRESSES).frame(WRITE._replace(kind="stray")) is None


def test_frames_go_from_node_to_node_and_packets_from_host_to_host() -> None:
    frame = Frames([], ADDRESSES).frame(WRITE._replace(port="s0->h1", node="s0"))
    assert frame is not None
    assert (frame[:6], frame[6:12]) == (ADDRESSES.mac("h1"), ADDRESSES.mac("s0"))
    assert (frame[26:30], frame[30:34]) == (ADDRESSES.ip("h0"), ADDRESSES.ip("h1"))


def test_an_acknowledgement_counts_the_messages_before_it() -> None:
    last = frozenset({"last"})
    data = [WRITE._replace(psn=psn, flags=last if psn in (2, 5) else frozenset()) for psn in range(7)]
    frames = Frames(data, ADDRESSES)
    for psn, messages in ((1, 0), (2, 1), (4, 1), (6, 2)):
        reply = WRITE._replace(
            kind="ack", src="h1", dst="h0", src_qp_num=3, qp_num=2, psn=psn, payload_bytes=0
        )
        frame = frames.frame(reply)
        assert frame is not None
        assert frame[54:58] == bytes((0x1F, 0, 0, messages))


def test_a_nak_does_not_count_the_message_that_is_missing() -> None:
    """Source: InfiniBand architecture, volume 1, 9.7.5.1.1: the MSN counts what is completed."""
    data = [WRITE._replace(psn=psn, flags=frozenset({"first", "last"})) for psn in range(3)]
    reply = WRITE._replace(kind="nak", src="h1", dst="h0", src_qp_num=3, qp_num=2, psn=1, payload_bytes=0)
    frame = Frames(data, ADDRESSES).frame(reply)
    assert frame is not None
    assert frame[50:58] == bytes((0, 0, 0, 1)) + bytes((0x60, 0, 0, 1))


def test_a_rate_of_a_switch_is_an_icmp_message() -> None:
    packet = WRITE._replace(
        kind="feedback", node="s0", port="s0->h0", src="", dst="h0", src_qp_num=0, qp_num=2
    )
    frame = Frames([], ADDRESSES).frame(packet)
    assert frame is not None
    assert frame[23] == 1
    assert frame[26:30] == ADDRESSES.ip("s0")
    assert frame[34] == 253
