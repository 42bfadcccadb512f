"""The contract of every registered congestion control."""

import re
from dataclasses import fields

import pytest
from helpers.networks import SEGMENTS, rtt_sample
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.cc.base import CongestionControl, CongestionControlParameters
from rogue.agent.core.limiter import LinkFacts

NAMES = sorted(CONGESTION_CONTROLS)
OPERATIONS = st.one_of(st.floats(1_000, 10_000_000), st.sampled_from(["loss", "timeout"]))


def build(name: str, line_rate_bps: int) -> CongestionControl:
    return (
        CONGESTION_CONTROLS[name].for_line_rate(line_rate_bps).build(LinkFacts(line_rate_bps, 1024), SEGMENTS)
    )


def apply(control: CongestionControl, operation: float | str) -> None:
    if operation == "loss":
        control.on_loss()
    elif operation == "timeout":
        control.on_timeout()
    else:
        control.on_sample(rtt_sample(float(operation)))


@pytest.mark.parametrize("name", NAMES)
@given(
    operations=st.lists(OPERATIONS, max_size=200), line_rate_bps=st.sampled_from([10**10, 4 * 10**10, 10**11])
)
def test_window_and_rate_stay_usable(name: str, operations: list[float | str], line_rate_bps: int) -> None:
    control = build(name, line_rate_bps)
    for operation in operations:
        apply(control, operation)
        assert 0 < control.cwnd_packets <= 1_000_000
        target_bps = control.target_rate_bps
        assert target_bps is None or target_bps > 0
        assert control.metrics()["cwnd_packets"] == control.cwnd_packets
        assert all(isinstance(value, float | int) for value in control.metrics().values())


@pytest.mark.parametrize("name", NAMES)
@given(operations=st.lists(OPERATIONS, max_size=50))
def test_same_inputs_same_outputs(name: str, operations: list[float | str]) -> None:
    one, other = build(name, 10**10), build(name, 10**10)
    for operation in operations:
        apply(one, operation)
        apply(other, operation)
        assert one.metrics() == other.metrics()
        assert one.target_rate_bps == other.target_rate_bps


@pytest.mark.parametrize("name", NAMES)
def test_metrics_have_the_same_keys_all_the_time(name: str) -> None:
    control = build(name, 10**10)
    keys = set(control.metrics())
    control.on_sample(rtt_sample(70_000))
    assert set(control.metrics()) == keys
    assert all(key.startswith("is_") or key.endswith(("_ns", "_bps", "_packets")) for key in keys)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_explained(name: str) -> None:
    parameters = CONGESTION_CONTROLS[name]
    for each in fields(parameters):
        assert re.search(rf"\b{each.name}\b[^:\n]*:", parameters.__doc__ or ""), each.name


def test_the_base_classes_are_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        CongestionControl()  # type: ignore[abstract]
    with pytest.raises(TypeError, match="abstract"):
        CongestionControlParameters()  # type: ignore[abstract]
