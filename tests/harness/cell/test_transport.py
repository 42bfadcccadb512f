"""Tests: translate a transport and its parameters from the experiment file into settings."""

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.agent.core.cc.vegas import VegasParameters
from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Prepare
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Group
from rogue.harness.cell.transport import (
    DriverOptions,
    ParameterError,
    ParameterMistake,
    SwitchParameter,
    agent_overrides,
    agent_settings,
    driver_options,
    first_mistake,
    option_mistake,
    values_of,
    without_options,
)
from rogue.harness.experiment.choices import Scalar, TrafficGroup

WORKLOAD = "workload: {kind: incast, senders: 2, size: 1MB}"


def mistake_of(cell: Cell, check: Callable[[Group], None] = lambda _group: None) -> ParameterMistake | None:
    return first_mistake(cell.groups, cell.transport.parameters, check)


@pytest.mark.parametrize(
    ("more", "group"),
    [
        ("", None),
        (", parameters: {segment: 1MB}", None),
        (", parameters: {alpha: 1}", "own"),
        (", transport: roce", "own"),
    ],
)
def test_it_is_the_groups_if_the_group_states_it_or_has_its_own_transport(
    tmp_path: Path, more: str, group: str | None
) -> None:
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{{name: own, {WORKLOAD}{more}}}]")

    def check(_group: TrafficGroup) -> None:
        raise ParameterError(ParameterMistake("alpha", "another", "correct it"))

    assert mistake_of(cell, check) == ParameterMistake("alpha", "another", "correct it", group)


def test_a_parameter_of_a_transport_that_carries_nothing(tmp_path: Path) -> None:
    traffic = f"traffic=[{{name: own, {WORKLOAD}, transport: roce}}]"
    transports = "transports=[{name: rogue, alpha_packets: 1}]"
    mistake = mistake_of(cell_of(tmp_path, "workload=null", traffic, transports))
    assert mistake is not None
    assert (mistake.key, mistake.group) == ("alpha_packets", None)
    assert "every group has its own" in mistake.expected
    assert mistake_of(cell_of(tmp_path, "workload=null", traffic)) is None


def test_no_mistake(tmp_path: Path) -> None:
    assert mistake_of(cell_of(tmp_path)) is None


POLLING = "transports=[{name: rogue, completions: polling, record_inputs: true, segment: 16KiB}]"


def test_options_are_told_from_the_transports_own_parameters(tmp_path: Path) -> None:
    parameters = cell_of(tmp_path, POLLING).transport.parameters
    assert driver_options(parameters) == DriverOptions("polling", True)
    assert without_options(parameters) == {"segment": "16KiB"}
    assert agent_overrides("rogue", 10**10, parameters) == {"segment_bytes": 16_384}
    assert option_mistake(parameters) is None


def test_defaults_are_the_agents() -> None:
    asked = Prepare("a", 1, "requester", "10.9.0.1", "rogue", 1)
    assert driver_options({}) == DriverOptions(asked.completions, asked.record_inputs)


@pytest.mark.parametrize(
    ("option", "key", "expected"),
    [
        ("completions: sometimes", "completions", "event or polling"),
        ("record_inputs: 1", "record_inputs", "false or true"),
        ("record_inputs: maybe", "record_inputs", "false or true"),
    ],
)
def test_a_value_that_an_option_does_not_take(option: str, key: str, expected: str) -> None:
    name, _, value = option.partition(": ")
    mistake = option_mistake({name: 1 if value == "1" else value})
    assert mistake is not None
    assert (mistake.key, mistake.expected) == (key, expected)


TABLE = (
    SwitchParameter("gap_ns", 5, 1, 1_000, "a time"),
    SwitchParameter("cap_packets", 111, 0, 200, "a number"),
)


def test_a_time_has_its_unit_in_the_value() -> None:
    assert values_of(TABLE, {"gap": "1us", "cap_packets": 7, "mine": "not"}) == {
        "gap_ns": 1_000,
        "cap_packets": 7,
    }


def test_a_part_of_a_packet_is_a_value_where_the_least_is_one() -> None:
    table = (SwitchParameter("cwnd_min_packets", 0.001, 1e-6, 1, "a window"),)
    assert values_of(table, {"cwnd_min_packets": 0.5}) == {"cwnd_min_packets": 0.5}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("gap", 5, "a time with a unit, such as 50us"),
        ("gap", "2us", "from 1 to 1000 ns"),
        ("cap_packets", "7", "a number"),
        ("cap_packets", 201, "from 0 to 200"),
        ("cap_packets", 7.5, "a whole number"),
    ],
)
def test_mistakes(key: str, value: str | float, expected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        values_of(TABLE, {key: value})
    assert (caught.value.mistake.key, caught.value.mistake.expected) == (key, expected)


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
