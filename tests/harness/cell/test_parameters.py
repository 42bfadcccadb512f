"""Parameters of transports."""

import pytest

from rogue.agent.core.cc.vegas import VegasParameters
from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.cell.transport import ParameterError, ParameterMistake, agent_overrides, agent_settings
from rogue.harness.experiment.choices import Scalar

RATE_BPS = 10_000_000_000


@pytest.mark.parametrize("name", TRANSPORTS)
def test_without_parameters_it_is_the_agents_own_choice(name: str) -> None:
    assert agent_settings(name, RATE_BPS, {}) == TRANSPORTS[name](RATE_BPS)


def test_quantities_are_written_with_their_unit() -> None:
    settings = agent_settings(
        "rogue",
        RATE_BPS,
        {
            "base_rtt_floor": "25us",
            "segment": "128KiB",
            "rate_change_max": "2Gbps",
            "alpha_packets": 3,
            "retry_count": 7,
        },
    )
    assert isinstance(settings.cc_parameters, VegasParameters)
    assert settings.cc_parameters.base_rtt_floor_ns == 25_000
    assert settings.cc_parameters.alpha_packets == 3
    assert (settings.segment_bytes, settings.rate_change_max_bps, settings.retry_count) == (
        131_072,
        2 * 10**9,
        7,
    )


def test_another_estimator_and_another_control() -> None:
    assert agent_settings("rogue", RATE_BPS, {"estimator": "literal"}).estimator == "literal"
    assert agent_settings("rogue", RATE_BPS, {"cc": "fixed"}).cc == "fixed"


@pytest.mark.parametrize(
    ("parameters", "key", "expected"),
    [
        ({"base_rtt_flor": "25us"}, "base_rtt_flor", "one of the parameters "),
        ({"base_rtt_floor": 25}, "base_rtt_floor", "a time with a unit"),
        ({"base_rtt_floor_ns": 25_000}, "base_rtt_floor_ns", "one of the parameters"),
        ({"base_rtt_floor": "0s"}, "base_rtt_floor", "a number of at least 1"),
        ({"alpha_packets": "3"}, "alpha_packets", "a value of type float"),
        ({"retry_count": 8}, "retry_count", "a number from 0 to 7"),
        ({"estimator": "oracle"}, "estimator", "one of "),
        ({"estimator": "uc"}, "estimator", "one for rogue, whose service is reliable"),
        ({"service": "uc"}, "service", "one of the parameters acknowledgement_wait"),
        ({"cc": "fixed", "base_rtt_floor": "25us"}, "base_rtt_floor", "one of the parameters"),
    ],
)
def test_wrong_parameters_are_named_as_they_were_written(
    parameters: dict[str, object], key: str, expected: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        agent_settings("rogue", RATE_BPS, parameters)  # type: ignore[arg-type]
    assert caught.value.mistake.key == key
    assert caught.value.mistake.expected.startswith(expected)


@pytest.mark.parametrize(
    ("parameters", "key", "expected", "advice"),
    [
        ({"alpha_packets": 5.0}, "alpha_packets", "up to beta_packets, 4", "lower it, or raise beta_packets"),
        (
            {"beta_packets": 1.0},
            "beta_packets",
            "at least alpha_packets, 2",
            "raise it, or lower alpha_packets",
        ),
        (
            {"cwnd_min_packets": 20.0},
            "cwnd_min_packets",
            "up to cwnd_initial_packets, 10",
            "lower it, or raise cwnd_initial_packets",
        ),
        (
            {"resync_wait_max": "1ns"},
            "resync_wait_max",
            "at least resync_wait, 10000000 ns",
            "raise it, or lower resync_wait",
        ),
    ],
)
def test_of_two_that_contradict_each_other_the_one_in_the_file_is_named(
    parameters: dict[str, Scalar], key: str, expected: str, advice: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        agent_settings("rogue", RATE_BPS, parameters)
    assert caught.value.mistake == ParameterMistake(key, expected, advice)


def test_parameters_by_the_agents_own_names() -> None:
    written = {"estimator": "literal", "base_rtt_floor": "10ms", "segment": "16KiB", "alpha_packets": 3}
    assert agent_overrides("rogue", RATE_BPS, written) == {
        "estimator": "literal", "base_rtt_floor_ns": 10_000_000, "segment_bytes": 16_384, "alpha_packets": 3,
    }  # fmt: skip
