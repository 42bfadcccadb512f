"""Tests: translate the parameters of a traffic group's transport, once, for every testbed."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of, group_in

from rogue.agent.core.cc.vegas import VegasParameters
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.messages import Prepare
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Group, first_mistake
from rogue.harness.cell.group_settings import DriverOptions, GroupSettings, NicPart, TcpSettings
from rogue.harness.cell.transport import ParameterError, ParameterMistake, SwitchParameter, values_of
from rogue.harness.experiment.choices import Scalar
from rogue.simulator import CONTROLS

RATE_BPS = 10_000_000_000
WORKLOAD = "workload: {kind: incast, senders: 2, size: 1MB}"


@pytest.fixture(name="cell")
def _cell(tmp_path: Path) -> Cell:
    return cell_of(tmp_path)


def settings_of(cell: Cell, transport: str, **parameters: Scalar) -> GroupSettings:
    return group_in(cell, transport, parameters).settings


def agent_of(cell: Cell, transport: str, **parameters: Scalar) -> TransportSettings:
    return settings_of(cell, transport, **parameters).agents[RATE_BPS]


def mistake_in(cell: Cell, transport: str, parameters: dict[str, Scalar]) -> ParameterMistake:
    with pytest.raises(ParameterError) as caught:
        _ = group_in(cell, transport, parameters).settings
    return caught.value.mistake


def mistake_of(cell: Cell) -> ParameterMistake | None:
    return first_mistake(cell.groups, cell.transport.parameters, lambda group: group.settings)


@pytest.mark.parametrize(
    ("more", "group"),
    [
        ("", None),
        (", parameters: {segment: 1MB}", None),
        (", parameters: {beta_packets: 1}", "own"),
        (", transport: rogue, parameters: {beta_packets: 1}", "own"),
    ],
)
def test_mistake_names_the_group_that_states_it(tmp_path: Path, more: str, group: str | None) -> None:
    transports = "transports=[{name: rogue, beta_packets: 1.0}]"
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{{name: own, {WORKLOAD}{more}}}]", transports)
    mistake = mistake_of(cell)
    assert mistake is not None
    assert (mistake.key, mistake.group) == ("beta_packets", group)


def test_unused_transport_takes_no_parameters(tmp_path: Path) -> None:
    traffic = f"traffic=[{{name: own, {WORKLOAD}, transport: roce}}]"
    transports = "transports=[{name: rogue, alpha_packets: 1}]"
    mistake = mistake_of(cell_of(tmp_path, "workload=null", traffic, transports))
    assert mistake is not None
    assert (mistake.key, mistake.group) == ("alpha_packets", None)
    assert "every group has its own" in mistake.expected
    assert mistake_of(cell_of(tmp_path, "workload=null", traffic)) is None


def test_group_settings_are_cached(cell: Cell) -> None:
    (group,) = cell.groups
    assert isinstance(group, Group)
    assert group.settings is group.settings
    assert mistake_of(cell) is None


def test_defaults_depend_on_the_line_rate(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text(
        "links: [{link: h0-s0, rate: 10Gbps}, {link: h1-s0, rate: 100Gbps}, {link: h2-s0, rate: 100Gbps}]"
    )
    cell = cell_of(tmp_path, "topology={kind: links, file: net.yaml}", "probe=null")
    agents = settings_of(cell, "rogue", retry_count=3).agents
    assert {rate: settings.segment_bytes for rate, settings in agents.items()} == {
        RATE_BPS: 65_536,
        10 * RATE_BPS: 262_144,
    }
    assert {settings.retry_count for settings in agents.values()} == {3}


def test_driver_options_are_not_agent_parameters(cell: Cell) -> None:
    settings = settings_of(cell, "rogue", completions="polling", record_inputs=True, segment="16KiB")
    assert settings.options == DriverOptions("polling", True)
    assert settings.overrides == {"segment_bytes": 16_384}


def test_option_defaults_equal_those_of_the_agent(cell: Cell) -> None:
    prepare = Prepare("a", 1, "requester", "10.9.0.1", "rogue", 1)
    assert settings_of(cell, "rogue").options == DriverOptions(prepare.completions, prepare.record_inputs)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("completions", "sometimes", "event or polling"),
        ("record_inputs", 1, "false or true"),
        ("record_inputs", "maybe", "false or true"),
    ],
)
def test_wrong_option_is_an_error(cell: Cell, key: str, value: Scalar, expected: str) -> None:
    mistake = mistake_in(cell, "rogue", {key: value})
    assert (mistake.key, mistake.expected) == (key, expected)


TABLE = (
    SwitchParameter("gap_ns", 5, 1, 1_000, "a time"),
    SwitchParameter("cap_packets", 111, 0, 200, "a number"),
)


def test_values_are_in_base_units() -> None:
    assert values_of(TABLE, {"gap": "1us", "cap_packets": 7, "mine": "not"}) == {
        "gap_ns": 1_000,
        "cap_packets": 7,
    }


def test_fractional_packets_need_a_fractional_minimum() -> None:
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
def test_wrong_value_is_an_error(key: str, value: str | float, expected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        values_of(TABLE, {key: value})
    assert (caught.value.mistake.key, caught.value.mistake.expected) == (key, expected)


@pytest.mark.parametrize("name", TRANSPORTS)
def test_default_settings_equal_those_of_the_agent(cell: Cell, name: str) -> None:
    assert agent_of(cell, name) == TRANSPORTS[name](RATE_BPS)
    assert settings_of(cell, name) == GroupSettings(agents={RATE_BPS: TRANSPORTS[name](RATE_BPS)})


def test_quantities_are_written_with_their_unit(cell: Cell) -> None:
    parameters: dict[str, Scalar] = {
        "base_rtt_floor": "25us",
        "segment": "128KiB",
        "rate_change_max": "2Gbps",
        "alpha_packets": 3,
        "retry_count": 7,
        "estimator": "literal",
    }
    settings = settings_of(cell, "rogue", **parameters)
    agent = settings.of_host(RATE_BPS)
    assert isinstance(agent, TransportSettings) and isinstance(agent.cc_parameters, VegasParameters)
    assert (agent.cc_parameters.base_rtt_floor_ns, agent.cc_parameters.alpha_packets) == (25_000, 3)
    assert (agent.segment_bytes, agent.rate_change_max_bps) == (131_072, 2 * 10**9)
    assert (agent.retry_count, agent.estimator) == (7, "literal")
    assert settings.overrides == {
        "estimator": "literal", "base_rtt_floor_ns": 25_000, "segment_bytes": 131_072,
        "rate_change_max_bps": 2 * 10**9, "alpha_packets": 3, "retry_count": 7,
    }  # fmt: skip


def test_each_control_has_its_parameters(cell: Cell) -> None:
    agent = agent_of(cell, "rogue", cc="fixed", window_packets=9.0)
    assert (agent.cc, agent.cc_parameters.__class__.__name__) == ("fixed", "FixedParameters")


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
def test_wrong_parameter_is_named_as_written(
    cell: Cell, parameters: dict[str, Scalar], key: str, expected: str
) -> None:
    mistake = mistake_in(cell, "rogue", parameters)
    assert mistake.key == key
    assert mistake.expected.startswith(expected)


FIRST = "cwnd_initial_packets"


@pytest.mark.parametrize(
    ("key", "value", "expected", "advice"),
    [
        ("alpha_packets", 5.0, "up to beta_packets, 4", "lower it, or raise beta_packets"),
        ("beta_packets", 1.0, "at least alpha_packets, 2", "raise it, or lower alpha_packets"),
        ("cwnd_min_packets", 20.0, f"up to {FIRST}, 10", f"lower it, or raise {FIRST}"),
        ("resync_wait_max", "1ns", "at least resync_wait, 10000000 ns", "raise it, or lower resync_wait"),
    ],
)
def test_contradiction_names_the_parameter_in_the_file(
    cell: Cell, key: str, value: Scalar, expected: str, advice: str
) -> None:
    assert mistake_in(cell, "rogue", {key: value}) == ParameterMistake(key, expected, advice)


@pytest.mark.parametrize(
    ("transport", "variant", "name"),
    [
        ("roce", None, None),
        ("roce+pfc", None, None),
        ("roce+pfc+dcqcn", None, "dcqcn"),
        ("roce+dcqcn", "ns3-rdma", "dcqcn-ns3-rdma"),
        ("roce+timely", "ns3-rdma", "timely-ns3-rdma"),
        ("roce+timely-patched", None, "timely-patched"),
        ("roce+rocc", None, "rocc"),
        ("resilient_roce", None, "dcqcn"),
    ],
)
def test_control_of_nics(cell: Cell, transport: str, variant: str | None, name: str | None) -> None:
    settings = settings_of(cell, transport, **({} if variant is None else {"variant": variant}))
    assert settings.control == (None if name is None else NicPart(name, {}))
    assert name is None or name in CONTROLS


def test_parameters_of_nics_and_of_the_agent(cell: Cell) -> None:
    parameters: dict[str, Scalar] = {"rtt_low": "25us", "beta": 0.5, "cap_packets": 7, "segment": "64KB"}
    settings = settings_of(
        cell, "irn+timely+spray", paths=8, variant="ns3-rdma", window_packets=9.0, **parameters
    )
    stated = {"rtt_low_ns": 25_000, "beta": 0.5, "segment_bytes": 64_000}
    assert settings.control == NicPart("timely-ns3-rdma", stated)
    assert settings.recovery == NicPart("irn", {"cap_packets": 7})
    assert settings.spraying == {"paths": 8}
    assert settings.overrides == {"window_packets": 9.0}
    assert set(settings.outside_agent) == {*parameters, "paths", "variant"}
    agent = settings.of_host(RATE_BPS)
    assert (agent.transport, agent.segment_bytes) == ("roce", 2**20)  # type: ignore[union-attr]


def test_parameters_of_switches(cell: Cell) -> None:
    assert settings_of(cell, "roce+hpcc").fair_rates is None
    assert settings_of(cell, "roce+rocc", reference="75KB").fair_rates == {"reference_bytes": 75_000}
    settings = settings_of(cell, "roce+dcqcn", kmin="20KB")
    assert settings.marking is not None and settings.marking.kmin_bytes == 20_000
    assert settings.control == NicPart("dcqcn", {})


def test_parameters_of_tcp(cell: Cell) -> None:
    settings = settings_of(cell, "dctcp", rto_min="10ms", mark_above="60KB", timestamps=1)
    tcp = TcpSettings("dctcp", {"rto_min_ns": 10_000_000, "timestamps": 1}, 60_000)
    assert settings.tcp == settings.of_host(RATE_BPS) == tcp
    assert tcp.segment_bytes == 1448
    assert settings.marking is not None and settings.marking.kmin_bytes == 60_000
    assert settings_of(cell, "cubic") == GroupSettings(tcp=TcpSettings("cubic", {}))
    assert TcpSettings("cubic", {}).segment_bytes == 1460


def test_parameters_of_ultra_ethernet(cell: Cell) -> None:
    settings = settings_of(cell, "uet+rccc", load_balancing="reps", credit_packets=8)
    assert settings.recovery == NicPart("uet-rccc", {"load_balancing": 2, "credit_packets": 8})
    assert settings.spraying == {}
    assert settings_of(cell, "uet").recovery == NicPart("uet", {})


@pytest.mark.parametrize(
    ("transport", "parameters", "key", "expected"),
    [
        ("roce+timely", {"beta": 3}, "beta", "from 1e-09 to 1"),
        ("roce+timely", {"beta": "much"}, "beta", "a number"),
        ("roce+timely", {"rtt_low": 50}, "rtt_low", "a time with a unit, such as 50us"),
        ("roce+timely", {"variant": "patched"}, "variant", "one of the variants ns3-rdma"),
        ("roce+hpcc", {"variant": "ns3"}, "variant", "no variant of hpcc"),
        ("roce+timely", {"segmet": "16KB"}, "segmet", "one of the parameters segment, is_bursty"),
        ("roce", {"beta": 0.5}, "beta", "one of the parameters"),
        ("irn", {"cap": 111}, "cap", "one of the parameters"),
        ("irn", {"retry_count": 3}, "retry_count", "no such parameter"),
        ("irn", {"paths": 64}, "paths", "one of the parameters"),
        ("irn+spray", {"paths": 2.5}, "paths", "a whole number"),
        ("roce+dcqcn", {"pmax": 0}, "pmax", "from 1e-09 to 1"),
        ("rogue-uc", {"estimator": "nic_tx_stamp"}, "estimator", "one that uses times of verbs"),
        ("cubic", {"mark_above": "60KB"}, "mark_above", "one of the parameters"),
        ("cubic", {"completions": "polling"}, "completions", "one of the parameters"),
        ("reno", {"rto_min": "soon"}, "rto_min", "a time with a unit"),
        ("reno", {"timestamps": "on"}, "timestamps", "a number"),
        ("uet", {"load_balancing": 2}, "load_balancing", "one of oblivious, bitmap, reps, mixed"),
        ("uet", {"load_balancing": "random"}, "load_balancing", "one of oblivious, bitmap, reps, mixed"),
        ("uet", {"freeze": "1ms"}, "freeze", "load_balancing: reps beside it"),
        ("uet", {"explored_paths": 3, "load_balancing": "mixed"}, "explored_paths", "load_balancing: reps"),
        ("uet", {"mprdma": 1, "nscc": 0}, "nscc", "1 beside mprdma"),
        ("uet", {"smartt": 1, "nscc": 0}, "nscc", "1 beside smartt"),
        ("uet", {"smartt": 1, "mprdma": 1}, "smartt", "0 beside mprdma"),
        ("uet", {"fair_gain": 2}, "fair_gain", "smartt: 1 beside it"),
        ("uet", {"delay_gain": 2, "smartt": 0}, "delay_gain", "smartt: 1 beside it"),
        ("uet", {"credit_rate": 0.9}, "credit_rate", "one of the parameters"),
    ],
)
def test_wrong_nic_parameter_is_an_error(
    cell: Cell, transport: str, parameters: dict[str, Scalar], key: str, expected: str
) -> None:
    mistake = mistake_in(cell, transport, parameters)
    assert mistake.key == key
    assert mistake.expected.startswith(expected)


def test_advice_names_the_timeouts_of_the_loss_recovery(cell: Cell) -> None:
    advice = [mistake_in(cell, each, {"timeout_exponent": 3}).advice for each in ("irn", "uet")]
    assert advice == ["its timeouts are rto_low and rto_high", "its timeout is rto"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"freeze": "1ms", "load_balancing": "reps"},
        {"mprdma": 1},
        {"mprdma": 0, "nscc": 0},
        {"smartt": 1, "fair_gain": 2},
    ],
)
def test_allowed_combinations_of_ultra_ethernet(cell: Cell, parameters: dict[str, Scalar]) -> None:
    assert settings_of(cell, "uet", **parameters).recovery is not None
