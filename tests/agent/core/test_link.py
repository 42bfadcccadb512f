import pytest

from rogue.agent.core.errors import SettingsError
from rogue.agent.core.limiter import LinkFacts


def test_a_full_packet_in_wire_bits() -> None:
    assert LinkFacts(line_rate_bps=10**10, mtu_bytes=1024).packet_wire_bits == 8 * 1106


@pytest.mark.parametrize(("line_rate_bps", "mtu_bytes"), [(0, 1024), (10**10, 0), (-1, 1024)])
def test_impossible_facts_are_refused(line_rate_bps: int, mtu_bytes: int) -> None:
    with pytest.raises(SettingsError, match="a positive number"):
        LinkFacts(line_rate_bps, mtu_bytes)


def test_an_unknown_framing_is_refused() -> None:
    with pytest.raises(SettingsError, match="framing"):
        LinkFacts(10**10, 1024, framing="carrier pigeon")
