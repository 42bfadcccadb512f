"""Transports and their parameters: the registry, overrides, bounds, and plug-ins."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields

import pytest

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.cc.vegas import VegasParameters
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.estimators import ESTIMATORS, build_estimator
from rogue.agent.core.estimators.ablations import Literal, Noisy
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.parameters import Parameters, at_least, between, override
from rogue.agent.core.plugins import register_control, register_estimator
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments, TransportSettings
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
    assert (settings.retry_count, settings.timeout_exponent, settings.batches_min) == (1, 14, 2)
    assert settings.estimator == "drained_followers"


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
        ("rogue-uc", {"acknowledgement_wait_max_ns": 1}, "acknowledgement_wait_ns", "wait_max_ns, 1"),
        ("rogue", {"batches_min": 5, "send_queue_verbs": 4}, "batches_min", "up to send_queue_verbs, 4"),
        ("rogue", {"cc": "fixed", "alpha_packets": 2}, "alpha_packets", "window_packets"),
        ("rogue", {"cc_parameters": {}}, "cc_parameters", "a parameter of rogue"),
        ("rogue", {"transport": "roce"}, "transport", "a parameter of rogue"),
        ("rogue", {"retry_count": 8}, "retry_count", "a number from 0 to 7"),
        ("rogue", {"base_rtt_floor_ns": 0}, "base_rtt_floor_ns", "at least 1"),
        ("roce", {"segment_bytes": "1MiB"}, "segment_bytes", "a value of type int"),
    ],
)
def test_invalid_overrides_are_errors(
    transport: str, overrides: dict[str, object], key: str, expected: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_for(transport, 10 * GBPS, overrides)
    assert caught.value.key == key
    assert expected in caught.value.expected


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_parameter_name_can_be_overridden(transport: str) -> None:
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


def test_only_rogue_has_a_shadow() -> None:
    """Over UC nothing is posted again, so nothing waits for a lost queue pair."""
    assert {name for name in TRANSPORTS if settings_for(name, 10 * GBPS, {}).has_shadow} == {"rogue"}


@dataclass(frozen=True, slots=True)
class Sample(Parameters):
    size_bytes: int = field(default=10, metadata=at_least(1))
    share: float = field(default=0.5, metadata=between(0, 1))
    is_on: bool = True
    rate: float = field(default=1.0, metadata=at_least(0))


def test_values_replace_defaults() -> None:
    assert override(Sample(), {"share": 0.25, "is_on": False}) == Sample(10, 0.25, False)
    assert override(Sample(), {"share": 1}).share == 1, "an integer is a valid float"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"sise_bytes": 1},
            "sise_bytes: got 1, expected one of the parameters is_on, rate, share, size_bytes",
        ),
        ({"size_bytes": 1.5}, "size_bytes: got 1.5, expected a value of type int"),
        ({"size_bytes": True}, "size_bytes: got True, expected a value of type int"),
        ({"size_bytes": "1"}, "size_bytes: got '1', expected a value of type int"),
        ({"size_bytes": 0}, "size_bytes: got 0, expected a number of at least 1"),
        ({"share": 1.5}, "share: got 1.5, expected a number from 0 to 1"),
        ({"share": float("nan")}, "share: got nan, expected a number from 0 to 1"),
        ({"is_on": 1}, "is_on: got 1, expected a value of type bool"),
        ({"rate": float("inf")}, "rate: got inf, expected a number of at least 0"),
    ],
)
def test_invalid_parameter_is_an_error(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        override(Sample(), overrides)
    assert str(caught.value) == message


@pytest.mark.parametrize("parameters", [TransportSettings, *CONGESTION_CONTROLS.values()])
def test_numeric_parameters_have_bounds_and_an_explanation(parameters: type[Parameters]) -> None:
    for each in fields(parameters):
        if each.type in {int, float}:
            assert set(each.metadata) == {"minimum", "maximum"}, each.name
            assert each.name in (parameters.__doc__ or ""), f"{each.name} is not explained"


@pytest.mark.parametrize(
    "overrides",
    [
        {"resync_wait_ns": 5, "resync_wait_max_ns": 5},
        {"acknowledgement_wait_ns": 1, "acknowledgement_wait_max_ns": 1},
        {"resync_limit_ns": 1, "flush_timeout_ns": 1, "rate_change_max_bps": 1},
        {"batches_min": 4, "send_queue_verbs": 4},
        {"timeout_exponent": 0, "retry_count": 0, "rtt_noise_ns": 0},  # InfiniBand, 9.7.6.1.3: no timeout
    ],
)
def test_edges_are_valid(overrides: dict[str, int]) -> None:
    settings = settings_for("rogue", 10**10, overrides)
    assert {name: getattr(settings, name) for name in overrides} == overrides


LINK = LinkFacts(10**10, 1024)


@pytest.mark.parametrize("overrides", [{"estimator": "nic_tx_stamp"}, {"rtt_noise_ns": 1}])
def test_an_estimator_that_needs_an_instrument_is_refused_without_it(overrides: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(overrides))):
        Connection(settings_for("rogue", LINK.line_rate_bps, overrides), LINK, 1)


def test_noise_wraps_the_estimator() -> None:
    settings = settings_for("rogue", LINK.line_rate_bps, {"rtt_noise_ns": 5, "estimator": "literal"})
    estimator = build_estimator(settings, LINK, Instruments(random=lambda: 0.5))
    assert isinstance(estimator, Noisy)
    assert estimator.needs_anchor is False
    default = build_estimator(settings_for("rogue", LINK.line_rate_bps, {}), LINK, NO_INSTRUMENTS)
    assert not isinstance(default, Noisy)


@pytest.fixture(autouse=True)
def unregister() -> Iterator[None]:
    yield
    CONGESTION_CONTROLS.pop("still", None)
    ESTIMATORS.pop("plain", None)


def test_registered_plugins_can_be_selected() -> None:
    register_control("still", FixedParameters)
    register_estimator("plain", Literal)
    settings = settings_for("rogue", 10**10, {"cc": "still", "estimator": "plain", "window_packets": 3.0})
    assert settings.cc_parameters == FixedParameters(3.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [("vegas", "a second control vegas"), ("../x", "the name '../x' of a control"), ("", "the name '' of a")],
)
def test_invalid_registration_is_an_error(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        register_control(name, FixedParameters)
    with pytest.raises(ValueError, match="as a estimator, expected a subclass of RttEstimator"):
        register_estimator("x", FixedParameters)  # type: ignore[arg-type]
