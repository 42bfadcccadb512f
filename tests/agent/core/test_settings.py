"""Tests: the settings of a transport, and instruments for labelled ablations."""

from dataclasses import fields

import pytest

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.estimators import build_estimator
from rogue.agent.core.estimators.noisy import Noisy
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.parameters import Parameters
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments, TransportSettings
from rogue.agent.core.transports import settings_for


@pytest.mark.parametrize("parameters", [TransportSettings, *CONGESTION_CONTROLS.values()])
def test_numbers_have_bounds_and_a_sentence(parameters: type[Parameters]) -> None:
    for each in fields(parameters):
        if each.type in {int, float}:
            assert set(each.metadata) == {"minimum", "maximum"}, each.name
            assert each.name in (parameters.__doc__ or ""), f"{each.name} is not explained"


@pytest.mark.parametrize("name", ["resync_wait", "acknowledgement_wait"])
def test_a_wait_may_be_as_short_as_can_be_and_need_not_grow(name: str) -> None:
    for wait_ns in (1, 5):
        assert settings_for("rogue", 10**10, {f"{name}_ns": wait_ns, f"{name}_max_ns": wait_ns})
    with pytest.raises(SettingsError, match="got 6"):
        settings_for("rogue", 10**10, {f"{name}_ns": 6, f"{name}_max_ns": 5})


def test_everything_that_is_counted_or_waited_for_may_be_one() -> None:
    for name in ("resync_limit_ns", "flush_timeout_ns", "rate_change_max_bps"):
        assert getattr(settings_for("rogue", 10**10, {name: 1}), name) == 1


def test_the_least_window_is_two_batches_and_fits_the_send_queue() -> None:
    assert settings_for("rogue", 10**10, {}).batches_min == 2
    assert settings_for("rogue", 10**10, {"batches_min": 4, "send_queue_verbs": 4}).batches_min == 4
    with pytest.raises(SettingsError, match="got 5"):
        settings_for("rogue", 10**10, {"batches_min": 5, "send_queue_verbs": 4})


@pytest.mark.parametrize(("name", "edge"), [("timeout_exponent", 0), ("retry_count", 0), ("rtt_noise_ns", 0)])
def test_zero_is_a_value_where_it_means_something(name: str, edge: int) -> None:
    """A timeout of 0 is none at all (InfiniBand Architecture Specification, 9.7.6.1.3)."""
    assert getattr(settings_for("rogue", 10**10, {name: edge}), name) == edge


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
