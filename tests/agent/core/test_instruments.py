"""What only a laboratory has is asked for, and refused where it is missing."""

import pytest

from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.estimators import build_estimator
from rogue.agent.core.estimators.noisy import Noisy
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.transports import settings_for

LINK = LinkFacts(10**10, 1024)


@pytest.mark.parametrize("overrides", [{"estimator": "nic_tx_stamp"}, {"rtt_noise_ns": 1}])
def test_a_connection_over_verbs_has_none(overrides: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(overrides))):
        Connection(settings_for("rogue", LINK.line_rate_bps, overrides), LINK, 1)


def test_noise_is_wrapped_round_the_estimator_that_was_asked_for() -> None:
    settings = settings_for("rogue", LINK.line_rate_bps, {"rtt_noise_ns": 5, "estimator": "literal"})
    estimator = build_estimator(settings, LINK, Instruments(random=lambda: 0.5))
    assert isinstance(estimator, Noisy)
    assert estimator.needs_anchor is False


def test_without_noise_no_random_number_is_drawn() -> None:
    settings = settings_for("rogue", LINK.line_rate_bps, {})
    assert not isinstance(build_estimator(settings, LINK, NO_INSTRUMENTS), Noisy)
