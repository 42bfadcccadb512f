"""Tests: configure the NICs of a cell: congestion control, loss recovery, spraying and fair rates."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of, group_in

from rogue.harness.cell.transport import ParameterError, ParameterMistake
from rogue.harness.experiment.choices import Scalar
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.nics import (
    RoundTrip,
    check_together,
    empty_round_trip,
    nic_facts,
    nic_settings,
    parameter_mistake,
    profile_of,
    switch_fair_rates,
)
from rogue.harness.testbeds.simulator.support import missing_limiters
from rogue.harness.testbeds.simulator.testbed import SimulatorTestbed
from rogue.simulator import (
    CX3PRO,
    CX4,
    FairRates,
    NicControl,
    Reliability,
    SimulationError,
    Spraying,
)

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


def mistake_of(directory: Path, *settings: str, text: str = SMALL) -> ParameterMistake:
    mistake = parameter_mistake(cell_of(directory, *settings, text=text))
    assert mistake is not None
    return mistake


def test_fair_rates(tmp_path: Path) -> None:
    assert switch_fair_rates(cell_of(tmp_path, "transports=[roce+hpcc]")) is None
    assert switch_fair_rates(cell_of(tmp_path, "transports=[roce+rocc]")) == FairRates({})
    cell = cell_of(tmp_path, "transports=[{name: roce+rocc, reference: 75KB, period: 100us}]")
    assert switch_fair_rates(cell) == FairRates({"reference_bytes": 75_000, "period_ns": 100_000})


@pytest.mark.parametrize(
    ("transport", "key", "expected"),
    [
        ("{name: roce+timely, rtt_low: 0us}", "rtt_low", "from 1 to 1000000000 ns"),
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
        ("{name: irn, rto_low: 2ms, rto_high: 1ms}", "rto_low", "rto_low_ns not above rto_high_ns"),
        ("{name: roce+spray, paths: 48}", "paths", "paths as a power of two from 1 to 65536, got 48"),
        ("{name: irn, cap_packets: -1}", "cap_packets", "from 0 to 4194304"),
    ],
)
def test_impossible_parameters_are_named(tmp_path: Path, transport: str, key: str, expected: str) -> None:
    mistake = mistake_of(tmp_path, f"transports=[{transport}]")
    assert mistake.key == key
    assert mistake.expected.startswith(expected)


def test_groups_have_their_own_parameters(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, text=GROUPS)
    assert parameter_mistake(cell) is None
    fast, slow = build_network(cell).flows
    assert fast.nics.control == NicControl(
        "timely", {"segment_bytes": 64_000, "initial_rate_bps": 7_000_000_000}
    )
    assert slow.nics.control == NicControl(
        "timely", {"segment_bytes": 64_000, "initial_rate_bps": 3_000_000_000}
    )
    assert (fast.settings.retry_count, slow.settings.retry_count) != (5, 5)
    assert slow.settings.retry_count == 5
    mistake = mistake_of(tmp_path, text=GROUPS.replace("3Gbps", "fast"))
    assert (mistake.key, mistake.group) == ("initial_rate", "slow")


@pytest.mark.parametrize(
    ("transport", "parameters", "key"),
    [("reno", "{rto_min: 1s, rto_max: 1ms}", "rto_max"), ("irn", "{rto_low: 1s, rto_high: 1ms}", "rto_low")],
)
def test_parameters_of_a_groups_transport_are_checked(
    tmp_path: Path, transport: str, parameters: str, key: str
) -> None:
    text = GROUPS.replace("{initial_rate: 7Gbps}", f"{parameters}\n    transport: {transport}")
    mistake = mistake_of(tmp_path, text=text)
    assert (mistake.key, mistake.group) == (key, "fast")


def test_mistake_in_fair_rates_names_the_group(tmp_path: Path) -> None:
    text = GROUPS.replace("{initial_rate: 7Gbps}", "{}\n    transport: dctcp")
    text = text.replace("{initial_rate: 3Gbps, retry_count: 5}", "{middle: 1MB}\n    transport: roce+rocc")
    mistake = mistake_of(tmp_path, text=text)
    assert (mistake.key, mistake.group) == ("middle", "slow")


def test_base_round_trip_of_the_network(tmp_path: Path) -> None:
    """Two links of 1 us and up to 5 ns of cable; 1106 and 86 bytes, each with 42 of telemetry, at 10 Gb/s."""
    cell = cell_of(tmp_path, "transports=[roce+hpcc]")
    round_trip_ns = 2 * 2 * 1_005 + round(2 * (1148 + 128) * 0.8 + 0.4)
    control = nic_settings(cell, group_in(cell, "roce+hpcc")).control
    assert control == NicControl("hpcc", {"base_rtt_ns": round_trip_ns})
    assert nic_facts(cell) == {"base_rtt_ns": round_trip_ns}
    stated = nic_settings(cell, group_in(cell, "roce+hpcc", {"base_rtt": "13us"})).control
    assert stated is not None and stated.parameters == {"base_rtt_ns": 13_000}
    assert nic_facts(cell_of(tmp_path)) == {}


ROUND_TRIP_NS = 5_928  # of cell_of's star
LONG_NS = ROUND_TRIP_NS + 7_200_000  # 9 MB at 10 Gb/s
PACKETS = 7


def recovery(directory: Path, transport: str, *settings: str, **parameters: Scalar) -> Mapping[str, float]:
    """Return the parameters of a transport's loss recovery."""
    cell = cell_of(directory, *settings)
    reliability = nic_settings(cell, group_in(cell, transport, parameters)).reliability
    assert reliability is not None
    return reliability.parameters


@pytest.mark.parametrize(
    ("transport", "expected"),
    [
        ("roce+pfc", None),
        ("irn", ("irn", {"cap_packets": PACKETS, "rto_low_ns": 100_000, "rto_high_ns": LONG_NS})),
        ("irn+dcqcn", ("irn", {"cap_packets": PACKETS, "rto_low_ns": 100_000, "rto_high_ns": LONG_NS})),
        ("irn-gbn", ("irn-gbn", {"cap_packets": PACKETS, "rto_low_ns": 100_000, "rto_high_ns": LONG_NS})),
        ("irn-nobdp", ("irn", {"cap_packets": 0, "rto_low_ns": 100_000, "rto_high_ns": LONG_NS})),
        ("irn+pfc", ("irn", {"cap_packets": PACKETS, "rto_low_ns": 0})),
        ("roce-lossy", ("go-back-n", {"rto_low_ns": LONG_NS, "rto_high_ns": LONG_NS})),
        ("resilient_roce", ("go-back-n", {"rto_low_ns": LONG_NS, "rto_high_ns": LONG_NS})),
        ("roce-go-back-0", ("go-back-0", {})),
    ],
)
def test_recovery_parameters_follow_from_the_network(
    tmp_path: Path, transport: str, expected: tuple[str, dict[str, float]] | None
) -> None:
    cell = cell_of(tmp_path)
    reliability = nic_settings(cell, group_in(cell, transport)).reliability
    assert reliability == (None if expected is None else Reliability(*expected))


@pytest.mark.parametrize(
    ("transport", "given", "low_ns", "high_ns"),
    [
        ("irn", {"rto_high": "320us"}, 100_000, 320_000),
        ("irn", {"rto_high": "80us"}, 80_000, 80_000),
        ("irn", {"rto_low": "20us"}, 20_000, LONG_NS),
        ("irn", {"rto_low": "1s"}, 10**9, 10**9),
        ("irn", {"rto_low": "0us"}, 0, LONG_NS),
        ("irn+pfc", {"rto_low": "20us", "rto_high": "1ms"}, 20_000, 1_000_000),
        ("roce-lossy", {"rto_high": "320us"}, 320_000, 320_000),
        ("roce-lossy", {"rto_low": "320us"}, 320_000, 320_000),
        ("roce-lossy", {"rto_low": "20us", "rto_high": "320us"}, 20_000, 320_000),
    ],
)
def test_stated_timeouts_are_kept_and_the_others_derived(
    tmp_path: Path, transport: str, given: dict[str, str], low_ns: int, high_ns: int
) -> None:
    parameters = recovery(tmp_path, transport, **given)
    assert (parameters["rto_low_ns"], parameters["rto_high_ns"]) == (low_ns, high_ns)


@pytest.mark.parametrize(
    "setting",
    [
        "faults=[{kind: loss, target: h1, probability: 0.01}]",
        "faults=[{kind: link_cut, target: h1, at: 1ms, duration: 1ms}]",
        "topology.pause_watchdog=1ms",
    ],
)
def test_pfc_has_timeouts_if_the_experiment_loses_packets(tmp_path: Path, setting: str) -> None:
    assert recovery(tmp_path, "irn+pfc", setting)["rto_low_ns"] == 100_000


def test_timeouts_of_unbounded_buffers_and_long_networks(tmp_path: Path) -> None:
    """An unbounded buffer: the usual timeout. A round trip above 100 us: only the long one."""
    assert recovery(tmp_path, "irn", "topology.buffer=unbounded")["rto_high_ns"] == 67_108_864
    far = recovery(tmp_path, "irn", "topology.delay=30us", "topology.buffer=20KB")
    assert far["rto_low_ns"] == far["rto_high_ns"] == 4 * 30_005 + 1_908 + 16_000


@pytest.mark.parametrize(
    ("transport", "parameters", "expected"),
    [
        ("roce", {}, None),
        ("irn+pfc", {}, None),
        ("roce+spray", {}, Spraying(64)),
        ("irn+dcqcn+pfc+spray", {"paths": 8}, Spraying(8)),
    ],
)
def test_spraying_of_transports(
    tmp_path: Path, transport: str, parameters: dict[str, Scalar], expected: Spraying | None
) -> None:
    cell = cell_of(tmp_path)
    assert nic_settings(cell, group_in(cell, transport, parameters)).spraying == expected


def test_spraying_reaches_connections_and_facts(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: irn+spray, paths: 16, threshold_nacks: 3}]")
    assert SimulatorTestbed().unsupported(cell) is None
    assert parameter_mistake(cell) is None
    flow = build_network(cell).flows[0]
    assert flow.nics.spraying == Spraying(16)
    assert flow.nics.reliability is not None
    assert flow.nics.reliability.parameters["threshold_nacks"] == 3
    assert nic_facts(cell)["paths"] == 16
    assert "paths" not in nic_facts(cell_of(tmp_path, "transports=[irn]"))


def test_spraying_to_a_host_with_a_forwarding_rule_is_refused(tmp_path: Path) -> None:
    fault = "faults=[{kind: flooding, target: s0, destination: h3}]"
    cell = cell_of(tmp_path, "transports=[irn+spray]", fault)
    assert "no rule (forward, flood) for 'h3'" in str(SimulatorTestbed().unsupported(cell))


def test_stated_limiters_replace_those_of_the_profile(tmp_path: Path) -> None:
    topology = cell_of(tmp_path, "topology.rate=10Gbps").topology
    assert profile_of(topology, "h0") is CX3PRO
    fewer = cell_of(tmp_path, "topology.rate=25Gbps", "topology.nic_limiters=2").topology
    stated = profile_of(fewer, "h0")
    assert (stated.limiters, stated.limiter_scope) == (3, "per_priority"), "and one that is never programmed"
    assert (stated.name, stated.rate_step_bps) == ("cx4", CX4.rate_step_bps)


def test_unprogrammed_limiter_serves_no_reader(tmp_path: Path) -> None:
    """Two readers keep two limiters, and a writer takes turns at what is left."""
    groups = ", ".join(
        f"{{name: {verb}s, workload: {{kind: pairs, flows: [{flows}], run_for: 1ms, verb: {verb}}}}}"
        for verb, flows in (
            ("read", "{source: h0, destination: h1}, {source: h0, destination: h2}"),
            ("write", "{source: h0, destination: h3}"),
        )
    )
    settings = (
        "topology.rate=10Gbps", "workload=null", f"traffic=[{groups}]", "probe=null", "transports=[rogue]",
    )  # fmt: skip
    assert missing_limiters(cell_of(tmp_path, *settings, "topology.nic_limiters=3")) is None
    reason = missing_limiters(cell_of(tmp_path, *settings, "topology.nic_limiters=2"))
    assert str(reason).startswith("h0 responds to the READs of 2 flows and needs 4 limiters, of which")


def check(values: Mapping[str, float]) -> None:
    """Refuse values; the sentence about the gap also names the cap."""
    if values.get("gap_ns", 5) > values.get("rest_ns", 9):
        raise SimulationError("x: what cap_packets is not", "gap_ns up to rest_ns", "10")
    if values.get("cap_packets", 0) > 7:
        raise SimulationError("x: expected cap_packets up to 7, got more")


@pytest.mark.parametrize(
    ("stated", "key"),
    [
        ({"cap_packets": 1, "gap_ns": 10}, "gap"),
        ({"gap_ns": 4, "rest_ns": 3}, "rest"),
        ({"cap_packets": 9, "gap_ns": 10}, "cap_packets"),
        ({"gap_ns": 20, "rest_ns": 10, "cap_packets": 1}, "gap"),
    ],
)
def test_contradicting_value_is_found_by_trial(stated: dict[str, float], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check_together(check, stated)
    assert caught.value.mistake.key == key


IRN = """\
name: x
topology: {kind: fat_tree, k: 6, rate: 40Gbps, delay: 2us, delay_spread: 0ns, buffer: 1440KB}
workload: {kind: poisson, load: 0.7, sizes: irn, arrive_for: 1ms}
transports: [irn]
"""


def test_round_trip_of_irns_network(tmp_path: Path) -> None:
    """24 us of cables, six times 1106 and 86 bytes at 40 Gb/s: 115 packets. A buffer lasts 288 us."""
    cell = cell_of(tmp_path, text=IRN)
    assert empty_round_trip(cell) == RoundTrip(24_000 + 1_431, 115, 288_000)
    ports = cell_of(tmp_path, "topology.switch=voq", "topology.buffer=240KB", text=IRN)
    assert empty_round_trip(ports) == empty_round_trip(cell)


def test_full_buffer_time_ignores_multi_port_nics(tmp_path: Path) -> None:
    """200 KB of a leaf last 160 us at a quarter of 40 Gb/s."""
    kind = "topology={kind: multi_plane, leaves: 1, spines: 0, rate: 40Gbps, buffer: 200KB}"
    assert empty_round_trip(cell_of(tmp_path, kind)).full_buffer_ns == 160_000
    unbounded = cell_of(tmp_path, kind, "topology.buffer=unbounded")
    assert empty_round_trip(unbounded).full_buffer_ns is None
