"""What one receiver of Ultra Ethernet grants to its sender, turn by turn."""

import pytest

from rogue.simulator._core import Responder
from rogue.simulator.errors import SimulationError

PAYLOAD = 1024
PARAMETERS = {"line_rate_bps": 10e9, "base_rtt_ns": 4_000}
EACH = 4 * PAYLOAD // 256
AHEAD = 7_500 // 256


def receiver(**parameters: float) -> Responder:
    return Responder("uet-rccc", mtu_bytes=PAYLOAD, parameters={**PARAMETERS, **parameters})


def turn(grants: Responder, *, is_idle: bool = False) -> int:
    [said] = grants.grant(is_idle=is_idle)
    return said["granted"]


def test_a_grant_is_four_packets_and_no_more_than_is_asked_for() -> None:
    grants = receiver()
    grants.on_packet(0, credit_target=20)
    assert grants.wants_turn() and not grants.wants_turn()
    assert [turn(grants) for _ in range(3)] == [EACH, 20, 20]


def test_packets_that_ask_for_less_or_come_late_change_nothing() -> None:
    grants = receiver()
    grants.on_packet(1, credit_target=10)
    assert grants.wants_turn()
    grants.on_packet(0, credit_target=4)
    assert not grants.wants_turn()
    assert turn(grants) == 10


def test_numbers_run_on_beyond_their_bits() -> None:
    """23 bits are carried; half of them tell what is later."""
    grants = receiver()
    step = 2**22 - 1
    for number in range(5):
        grants.on_packet(number, credit_target=(number + 1) * step % 2**23)
        assert grants.wants_turn()
    turns = [turn(grants) for _ in range(5 * step // EACH + 2)]
    assert turns[-1] == 5 * step > 2**23


def test_ahead_of_what_is_asked_a_grant_is_whole() -> None:
    grants = receiver()
    grants.on_packet(0, credit_target=3)
    assert [turn(grants), turn(grants, is_idle=True)] == [3, 3 + EACH]


@pytest.mark.parametrize("packet", [{"is_trimmed": True}, {"is_request": True, "payload_bytes": 0}])
def test_a_trimmed_packet_and_a_request_want_to_be_told_again(packet: dict[str, bool | int]) -> None:
    grants = receiver()
    grants.on_packet(0, credit_target=4)
    assert grants.wants_turn() and turn(grants) == 4
    [reply] = grants.on_packet(1, credit_target=4, **packet)
    assert reply["is_negative"] == ("is_trimmed" in packet)
    assert reply["is_of_request"] == ("is_request" in packet)
    assert grants.wants_turn() and turn(grants) == 4
    assert grants.delivered_bytes == PAYLOAD


def test_without_credits_there_is_nothing_to_grant() -> None:
    plain = Responder("uet", mtu_bytes=PAYLOAD)
    plain.on_packet(0, credit_target=20)
    assert not plain.wants_turn()
    with pytest.raises(SimulationError, match="expected a kind with credits of receivers"):
        plain.grant()
