"""Packet events: exactly the chosen packet is changed, and everything else passes as it came."""

import pytest
from helpers.roce_bytes import RETH, WRITE, aeth, frame_of, ipv4, ipv6, transport

from rogue.agent.node.packet_events import Matcher, Outcome, PacketEvent, Struck
from rogue.agent.node.roce_frames import decode

FIRST_PSN = 0xFFFFFE
"""The flow's numbers wrap around at its third packet."""


def event(action: str, psn: int | None = 2, **fields: object) -> PacketEvent:
    kinds = fields.pop("kinds", ("write",))
    return PacketEvent(
        "h0->s0",
        "p0b",
        "s0",
        kinds,  # type: ignore[arg-type]
        psn,
        fields.pop("transmission", 1),  # type: ignore[arg-type]
        action,
        address="10.0.0.2",
        first_psns={17: FIRST_PSN},
        **fields,  # type: ignore[arg-type]
    )


def data(psn: int) -> bytes:
    """Return the packet with this number, counted from the flow's first."""
    numbered = (FIRST_PSN + psn) & 0xFFFFFF
    return frame_of(ipv4(transport(0x07, psn=numbered, payload=bytes(64)), tos=2))


def passed(matcher: Matcher, *packets: bytes) -> list[Outcome]:
    return [outcome for packet in packets for outcome in matcher.outcomes(packet, 5)]


def test_only_the_named_transmission_is_dropped() -> None:
    matcher = Matcher([event("drop", transmission=2)])
    packets = [data(psn) for psn in (0, 1, 2, 3, 2, 3, 2)]
    assert [each.packet for each in passed(matcher, *packets)] == [*packets[:4], *packets[5:]]
    assert matcher.struck == [Struck(0, 5, 0)]


def test_other_directions_kinds_and_traffic_pass() -> None:
    matcher = Matcher([event("drop", psn=2)])
    number = 0
    others = [
        frame_of(ipv6(WRITE)),
        frame_of(ipv4(transport(0x11, psn=number, extension=aeth(0)))),
        data(2)[:30],
        b"\xff" * 60,
    ]
    assert passed(matcher, *others) == [Outcome(each) for each in others]
    assert matcher.struck == []


def test_packets_without_a_number_are_counted() -> None:
    cnps = [frame_of(ipv4(transport(0x81, psn=0, extension=bytes(16)))) for _ in range(3)]
    matcher = Matcher([event("drop", psn=None, kinds=("cnp",), transmission=3)])
    assert len(passed(matcher, *cnps)) == 2


@pytest.mark.parametrize(
    "packet",
    [data(2), frame_of(ipv6(WRITE, traffic_class=2)), frame_of(ipv4(WRITE, options=bytes((1, 1, 1, 0))))],
)
def test_mark_is_in_the_ip_header_alone(packet: bytes) -> None:
    marked = _changed("mark", packet)
    decoded = decode(marked)
    assert decoded is not None
    assert decoded.is_marked
    assert decoded.is_corrupt is False
    assert marked[14 + 20 + 4 :] == packet[14 + 20 + 4 :] or packet[14] >> 4 == 6
    if packet[14] >> 4 == 4:
        header = marked[14 : decoded.bth - 8]
        total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
        assert total % 0xFFFF == 0, "checksum"


@pytest.mark.parametrize(
    "packet", [data(2), frame_of(ipv4(transport(0x11, psn=0, extension=aeth(0)))) + bytes(6)]
)
def test_corrupt_packet_has_a_wrong_icrc(packet: bytes) -> None:
    changed = _changed("corrupt", packet)
    decoded = decode(changed)
    assert decoded is not None
    assert decoded.is_corrupt
    assert sum(a != b for a, b in zip(changed, packet, strict=True)) == 1


def _changed(action: str, packet: bytes) -> bytes:
    """Return what becomes of a packet to which an event happens."""
    decoded = decode(packet)
    assert decoded is not None
    struck = event(action, psn=None, kinds=(decoded.kind,))
    struck = PacketEvent(**{**vars(struck), "address": decoded.destination})
    (outcome,) = passed(Matcher([struck]), packet)
    return outcome.packet


def test_delay_and_copies_are_requested_of_the_sender() -> None:
    (delayed,) = passed(Matcher([event("delay", amount=20_000)]), data(2))
    assert delayed == Outcome(data(2), delay_ns=20_000)
    (doubled,) = passed(Matcher([event("duplicate", amount=2)]), data(2))
    assert doubled == Outcome(data(2), copies=3)


def test_reordered_packet_comes_behind_later_packets_of_its_flow() -> None:
    matcher = Matcher([event("reorder", amount=2)])
    other = frame_of(ipv6(transport(0x0C, extension=RETH)))
    outcomes = passed(matcher, data(1), data(2), data(3), other, data(4), data(5))
    assert [each.packet for each in outcomes] == [data(1), data(3), other, data(4), data(2), data(5)]


def test_several_events_strike_one_packet() -> None:
    (outcome,) = passed(Matcher([event("delay", amount=5), event("mark"), event("delay", amount=7)]), data(2))
    decoded = decode(outcome.packet)
    assert decoded is not None
    assert (decoded.is_marked, outcome.delay_ns) == (True, 5), "the first delay counts"
