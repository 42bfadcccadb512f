"""Congestion controls of the NICs, and parameters that are theirs."""

from pathlib import Path

import pytest
from helpers.experiments import carrier, cell_of

from rogue.harness.cell.transport import ParameterError
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.controls import (
    agent_parameters,
    control_facts,
    control_name,
    nic_control,
    parameter_mistake,
    switch_fair_rates,
)
from rogue.harness.testbeds.simulator.network import build_network
from rogue.simulator import CONTROLS, FairRates, NicControl

GROUPS = """\
name: x
topology: {kind: star, hosts: 3, rate: 10Gbps, nic: ideal}
traffic:
  - name: fast
    workload: {kind: incast, senders: 1, size: 1MB}
    parameters: {initial_rate: 7Gbps}
  - name: slow
    workload: {kind: incast, senders: 1, size: 1MB}
    parameters: {initial_rate: 3Gbps, retry_count: 5}
transports: [{name: roce+timely, segment: 64KB}]
"""


@pytest.mark.parametrize(
    ("transport", "parameters", "name"),
    [
        ("roce", {}, None),
        ("roce+pfc", {}, None),
        ("roce+pfc+dcqcn", {}, "dcqcn"),
        ("roce+dcqcn", {"variant": "ns3-rdma"}, "dcqcn-ns3-rdma"),
        ("roce+timely", {"variant": "ns3-rdma"}, "timely-ns3-rdma"),
        ("roce+timely-patched", {}, "timely-patched"),
        ("roce+rocc", {}, "rocc"),
        ("roce+hpcc", {}, "hpcc"),
    ],
)
def test_which_control(transport: str, parameters: dict[str, str], name: str | None) -> None:
    assert control_name(carrier(transport, parameters)) == name
    assert name is None or name in CONTROLS


def test_units_are_in_the_values(tmp_path: Path) -> None:
    written = {"rtt_low": "25us", "segment": "64KB", "beta": 0.5, "is_bursty": 0, "initial_rate": "7Gbps"}
    assert nic_control(cell_of(tmp_path), carrier("roce+timely", written)) == NicControl(
        "timely",
        {
            "rtt_low_ns": 25_000,
            "segment_bytes": 64_000,
            "beta": 0.5,
            "is_bursty": 0,
            "initial_rate_bps": 7_000_000_000,
        },
    )


def test_the_agent_gets_the_rest() -> None:
    parameters = {"beta": 0.5, "retry_count": 3, "variant": "ns3-rdma"}
    assert agent_parameters(carrier("roce+timely", parameters)) == {"retry_count": 3}
    assert agent_parameters(carrier("roce", parameters)) == parameters
    assert agent_parameters(carrier("roce+rocc", {"reference": "75KB", "rise_timer": "60us"})) == {}
    assert agent_parameters(carrier("irn+timely", {"cap_packets": 7, "beta": 0.5, "window_packets": 9})) == {
        "window_packets": 9
    }


def test_fair_rates(tmp_path: Path) -> None:
    assert switch_fair_rates(cell_of(tmp_path, "transports=[roce+hpcc]")) is None
    assert switch_fair_rates(cell_of(tmp_path, "transports=[roce+rocc]")) == FairRates({})
    cell = cell_of(tmp_path, "transports=[{name: roce+rocc, reference: 75KB, period: 100us}]")
    assert switch_fair_rates(cell) == FairRates({"reference_bytes": 75_000, "period_ns": 100_000})


@pytest.mark.parametrize(
    ("transport", "key", "expected"),
    [
        ("{name: roce+timely, beta: 3}", "beta", "from 1e-09 to 1"),
        ("{name: roce+timely, beta: much}", "beta", "a number"),
        ("{name: roce+timely, rtt_low: 50}", "rtt_low", "a time with a unit, such as 50us"),
        ("{name: roce+timely, rtt_low: 0us}", "rtt_low", "from 1 to 1e+09 ns"),
        ("{name: roce+timely, variant: hpcc}", "variant", "one of the variants ns3-rdma"),
        ("{name: roce+timely, variant: patched}", "variant", "one of the variants ns3-rdma"),
        ("{name: roce+hpcc, variant: ns3}", "variant", "no variant of hpcc"),
        ("{name: roce+rocc, period: 3}", "period", "a time with a unit, such as 50us"),
        ("{name: roce+timely, segmet: 16KB}", "segmet", "one of the parameters"),
        ("{name: roce, beta: 0.5}", "beta", "one of the parameters"),
        (
            "{name: roce+timely, rtt_low: 1s}",
            "rtt_low",
            "rtt_low_ns up to rtt_high_ns, 500000, got 1000000000",
        ),
        ("{name: roce+timely, rtt_high: 1us}", "rtt_high", "rtt_low_ns up to rtt_high_ns, 1000, got 50000"),
        (
            "{name: roce+hpcc, expected_flows: 9, additive_increase: 10Mbps}",
            "expected_flows",
            "additive_increase_bps or expected_flows, got both",
        ),
        (
            "{name: roce+rocc, middle: 1MB}",
            "middle",
            "reference_bytes below middle_bytes below maximum_bytes, got 75000, 1000000 and 210000",
        ),
        ("{name: rogue-uc, estimator: nic_tx_stamp}", "estimator", "one that goes by what verbs tell"),
        ("{name: roce+dcqcn, pmax: 0}", "pmax", "from 1e-09 to 1"),
    ],
)
def test_mistakes(tmp_path: Path, transport: str, key: str, expected: str) -> None:
    mistake = parameter_mistake(cell_of(tmp_path, f"transports=[{transport}]"))
    assert mistake is not None
    assert mistake.key == key
    assert mistake.expected.startswith(expected)


def test_no_mistake(tmp_path: Path) -> None:
    for transport in ("roce", "{name: roce+timely, beta: 0.5, retry_count: 3}", "dctcp"):
        assert parameter_mistake(cell_of(tmp_path, f"transports=[{transport}]")) is None


def test_groups_may_have_parameters_of_their_own(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, text=GROUPS)
    assert parameter_mistake(cell) is None
    fast, slow = build_network(cell).flows
    assert fast.asked.control == NicControl(
        "timely", {"segment_bytes": 64_000, "initial_rate_bps": 7_000_000_000}
    )
    assert slow.asked.control == NicControl(
        "timely", {"segment_bytes": 64_000, "initial_rate_bps": 3_000_000_000}
    )
    assert (fast.settings.retry_count, slow.settings.retry_count) != (5, 5)
    assert slow.settings.retry_count == 5
    cell = cell_of(tmp_path, text=GROUPS.replace("3Gbps", "fast"))
    mistake = parameter_mistake(cell)
    assert mistake is not None
    assert (mistake.key, mistake.group) == ("initial_rate", "slow")


@pytest.mark.parametrize(
    ("transport", "parameters", "key"),
    [("reno", "{rto_min: 1s, rto_max: 1ms}", "rto_max"), ("irn", "{rto_low: 1s, rto_high: 1ms}", "rto_low")],
)
def test_transports_of_groups_are_looked_at(
    tmp_path: Path, transport: str, parameters: str, key: str
) -> None:
    text = GROUPS.replace("{initial_rate: 7Gbps}", f"{parameters}\n    transport: {transport}")
    mistake = parameter_mistake(cell_of(tmp_path, text=text))
    assert mistake is not None
    assert (mistake.key, mistake.group) == (key, "fast")


@pytest.mark.parametrize(
    "transport", ["roce+timely", "roce+timely-patched", "roce+rocc", "roce+hpcc", "irn+hpcc"]
)
def test_every_control_runs(tmp_path: Path, transport: str) -> None:
    cell = cell_of(tmp_path, f"transports=[{transport}]", "topology.buffer=9MB")
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    assert result.failure is None
    assert set(result.tables["flows"]["status"]) == {"ok"}


def test_fair_rates_of_a_group_are_its_own_mistake(tmp_path: Path) -> None:
    text = GROUPS.replace("{initial_rate: 7Gbps}", "{}\n    transport: dctcp")
    text = text.replace("{initial_rate: 3Gbps, retry_count: 5}", "{middle: 1MB}\n    transport: roce+rocc")
    mistake = parameter_mistake(cell_of(tmp_path, text=text))
    assert mistake is not None
    assert (mistake.key, mistake.group) == ("middle", "slow")


def test_nonsense_values_together_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ParameterError):
        nic_control(cell_of(tmp_path), carrier("roce+hpcc", {"eta": 2}))


def test_base_round_trip_of_the_network(tmp_path: Path) -> None:
    """Two links of 1 us and up to 5 ns of cable; 1106 and 86 bytes, each with 42 of telemetry, at 10 Gb/s."""
    cell = cell_of(tmp_path, "transports=[roce+hpcc]")
    round_trip_ns = 2 * 2 * 1_005 + round(2 * (1148 + 128) * 0.8 + 0.4)
    assert nic_control(cell, carrier("roce+hpcc", {})) == NicControl("hpcc", {"base_rtt_ns": round_trip_ns})
    assert control_facts(cell) == {"base_rtt_ns": round_trip_ns}
    stated = nic_control(cell, carrier("roce+hpcc", {"base_rtt": "13us"}))
    assert stated is not None and stated.parameters == {"base_rtt_ns": 13_000}
    assert control_facts(cell_of(tmp_path)) == {}
