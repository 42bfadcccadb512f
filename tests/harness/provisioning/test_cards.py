import pytest

from rogue.harness.provisioning.cards import CARDS, card_name, card_profile
from rogue.simulator.profiles import PROFILES


@pytest.mark.parametrize(
    ("hca_type", "name", "rate_gbps"),
    [
        ("MT4103", "ConnectX-3 Pro", 40),
        ("MT4115", "ConnectX-4", 100),
        ("MT4117", "ConnectX-4 Lx", 50),
        ("MT4119", "ConnectX-5", 100),
        ("MT4121", "ConnectX-5 Ex", 100),
        ("MT4123", "ConnectX-6", 200),
        ("MT4125", "ConnectX-6 Dx", 200),
        ("MT4127", "ConnectX-6 Lx", 50),
        ("MT4129", "ConnectX-7", 400),
        ("MT41686", "BlueField-2", 200),  # 0xa2d6
    ],
)
def test_cards_are_known_by_name_and_rate(hca_type: str, name: str, rate_gbps: int) -> None:
    assert (card_name(hca_type), CARDS[hca_type].rate_bps) == (name, rate_gbps * 10**9)


def test_a_card_that_is_not_known_keeps_the_drivers_word() -> None:
    assert (card_name("MT9999"), card_profile("MT9999")) == ("MT9999", None)


def test_profiles_are_the_simulators() -> None:
    known = {card.profile for card in CARDS.values() if card.profile}
    assert known == {"cx3pro", "cx4"}
    assert known <= set(PROFILES)
    assert card_profile("MT4103") == "cx3pro"
