"""The registry of transports, and what a user may override."""

from dataclasses import asdict

import pytest

from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.cc.vegas import VegasParameters
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.transports import TRANSPORTS, parameter_names, settings_for

GBPS = 10**9


@pytest.mark.parametrize(
    ("line_rate_bps", "segment_bytes", "base_rtt_floor_ns"),
    [(10 * GBPS, 65_536, 50_000), (40 * GBPS, 65_536, 50_000), (100 * GBPS, 262_144, 21_000)],
)
def test_rogue_scales_its_constants_with_the_line_rate(
    line_rate_bps: int, segment_bytes: int, base_rtt_floor_ns: int
) -> None:
    settings = settings_for("rogue", line_rate_bps, {})
    assert settings.segment_bytes == segment_bytes
    assert isinstance(settings.cc_parameters, VegasParameters)
    assert settings.cc_parameters.base_rtt_floor_ns == base_rtt_floor_ns


def test_rogue_has_the_constants_of_the_paper() -> None:
    settings = settings_for("rogue", 10 * GBPS, {})
    assert (settings.hold_off_bytes, settings.rate_change_max_bps) == (160_000, GBPS)
    assert (settings.retry_count, settings.timeout_exponent) == (1, 14)
    assert settings.estimator == "drained"


def test_native_roce_posts_large_verbs_and_leaves_retries_to_the_nic() -> None:
    settings = settings_for("roce", 10 * GBPS, {})
    assert (settings.segment_bytes, settings.retry_count) == (1_048_576, 7)
    assert settings.estimator is None
    assert settings.cc_parameters == FixedParameters()


def test_overrides_reach_the_transport_and_its_congestion_control() -> None:
    overrides = {
        "hold_off_bytes": 0,
        "base_rtt_floor_ns": 25_000,
        "estimator": "literal",
        "slow_start": False,
    }
    settings = settings_for("rogue", 10 * GBPS, overrides)
    assert (settings.hold_off_bytes, settings.estimator) == (0, "literal")
    assert settings.cc_parameters == VegasParameters(base_rtt_floor_ns=25_000, slow_start=False)


def test_another_congestion_control_brings_its_own_parameters() -> None:
    settings = settings_for("rogue", 10 * GBPS, {"window_packets": 64, "cc": "fixed"})
    assert settings.cc_parameters == FixedParameters(window_packets=64)


@pytest.mark.parametrize(
    ("transport", "overrides", "key", "expected"),
    [
        ("rouge", {}, "transport", "one of roce, roce-uc, rogue, rogue-uc"),
        ("rogue", {"cc": "cubic"}, "cc", "one of fixed, vegas"),
        ("rogue", {"cc": 5}, "cc", "one of fixed, vegas"),
        ("rogue", {"estimator": "oracle"}, "estimator", "one of drained, drained_followers, literal"),
        ("rogue", {"estimator": "uc"}, "estimator", "one for rogue, whose service is reliable"),
        ("rogue", {"service": "uc"}, "service", "a parameter of rogue"),
        ("rogue", {"alpha": 2}, "alpha", "alpha_packets"),
        ("rogue", {"alpha_packets": 4.5}, "alpha_packets", "up to beta_packets, 4"),
        ("rogue", {"cwnd_min_packets": 11}, "cwnd_min_packets", "up to cwnd_initial_packets, 10"),
        ("roce", {"resync_wait_ns": 2 * 10**9}, "resync_wait_ns", "up to resync_wait_max_ns, 1000000000"),
        (
            "rogue-uc",
            {"acknowledgement_wait_max_ns": 1},
            "acknowledgement_wait_ns",
            "up to acknowledgement_wait_max_ns, 1",
        ),
        ("rogue", {"cc": "fixed", "alpha_packets": 2}, "alpha_packets", "window_packets"),
        ("rogue", {"cc_parameters": {}}, "cc_parameters", "a parameter of rogue"),
        ("rogue", {"transport": "roce"}, "transport", "a parameter of rogue"),
        ("rogue", {"retry_count": 8}, "retry_count", "a number from 0 to 7"),
        ("rogue", {"base_rtt_floor_ns": 0}, "base_rtt_floor_ns", "at least 1"),
        ("roce", {"segment_bytes": "1MiB"}, "segment_bytes", "a value of type int"),
    ],
)
def test_bad_requests_are_refused(
    transport: str, overrides: dict[str, object], key: str, expected: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_for(transport, 10 * GBPS, overrides)
    assert caught.value.key == key
    assert expected in caught.value.expected


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_name_is_taken(transport: str) -> None:
    settings = TRANSPORTS[transport](10 * GBPS)
    values = {**asdict(settings.cc_parameters), **asdict(settings)}
    names = [name for name in parameter_names(settings) if values[name] is not None]
    assert settings_for(transport, 10 * GBPS, {name: values[name] for name in names}) == settings


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("line_rate_bps", [10 * GBPS, 40 * GBPS, 100 * GBPS])
def test_each_transport_makes_a_connection(transport: str, line_rate_bps: int) -> None:
    settings = settings_for(transport, line_rate_bps, {})
    assert settings.transport == transport
    assert TRANSPORTS[transport].__doc__
    Connection(settings, LinkFacts(line_rate_bps, 1024), qp_num=1)


def test_only_what_resynchronises_has_a_shadow() -> None:
    """Over UC nothing is posted again, so nothing waits for a lost queue pair."""
    assert {name for name in TRANSPORTS if settings_for(name, 10 * GBPS, {}).has_shadow} == {"rogue"}
