"""Tests: choose loss recovery, spraying and timeouts for the NICs of a cell."""

from pathlib import Path

import pytest
from helpers.experiments import carrier, cell_of

from rogue.harness.testbeds.simulator.controls import parameter_mistake
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.reliability import (
    FITTINGS,
    nic_reliability,
    nic_spraying,
    reliability_facts,
    reliability_parameters,
    spraying_facts,
    spraying_parameters,
)
from rogue.harness.testbeds.simulator.testbed import SimulatorTestbed
from rogue.simulator import RELIABILITIES, Reliability, Spraying
from rogue.workloads.transports import parse_transport

ROUND_TRIP_NS = 5_928  # of cell_of's star, see test_round_trip.py
LONG_NS = ROUND_TRIP_NS + 7_200_000  # 9 MB at 10 Gb/s
PACKETS = 7


def asked(directory: Path, transport: str, *settings: str, **parameters: str | float) -> Reliability | None:
    return nic_reliability(cell_of(directory, *settings), carrier(transport, parameters))


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
def test_what_fits_the_network(
    tmp_path: Path, transport: str, expected: tuple[str, dict[str, float]] | None
) -> None:
    reliability = asked(tmp_path, transport)
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
def test_what_is_stated_holds_and_the_rest_follows(
    tmp_path: Path, transport: str, given: dict[str, str], low_ns: int, high_ns: int
) -> None:
    reliability = asked(tmp_path, transport, **given)
    assert reliability is not None
    assert (reliability.parameters["rto_low_ns"], reliability.parameters["rto_high_ns"]) == (low_ns, high_ns)


@pytest.mark.parametrize(
    "setting",
    [
        "faults=[{kind: loss, target: h1, probability: 0.01}]",
        "faults=[{kind: link_cut, target: h1, at: 1ms, duration: 1ms}]",
        "topology.pause_watchdog=1ms",
    ],
)
def test_where_the_experiment_loses_packets_flow_control_needs_timeouts_too(
    tmp_path: Path, setting: str
) -> None:
    reliability = asked(tmp_path, "irn+pfc", setting)
    assert reliability is not None and reliability.parameters["rto_low_ns"] == 100_000


def test_other_networks(tmp_path: Path) -> None:
    """An unbounded buffer: the usual timeout. A round trip above 100 us: only the long one."""
    unbounded = asked(tmp_path, "irn", "topology.buffer=unbounded")
    assert unbounded is not None and unbounded.parameters["rto_high_ns"] == 67_108_864
    far = asked(tmp_path, "irn", "topology.delay=30us", "topology.buffer=20KB")
    assert far is not None
    assert far.parameters["rto_low_ns"] == far.parameters["rto_high_ns"] == 4 * 30_005 + 1_908 + 16_000


@pytest.mark.parametrize(
    ("transport", "key", "expected"),
    [
        ("{name: irn, cap_packets: -1}", "cap_packets", "from 0 to 4.1943e+06"),
        ("{name: irn, cap_packets: 7KB}", "cap_packets", "a number"),
        ("{name: irn, rto_low: 100}", "rto_low", "a time with a unit, such as 50us"),
        (
            "{name: irn, rto_low: 2ms, rto_high: 1ms}",
            "rto_low",
            "rto_low_ns not above rto_high_ns",
        ),
        ("{name: irn, cap: 111}", "cap", "one of the parameters"),
        ("{name: irn, retry_count: 3}", "retry_count", "no such parameter"),
    ],
)
def test_mistakes(tmp_path: Path, transport: str, key: str, expected: str) -> None:
    mistake = parameter_mistake(cell_of(tmp_path, f"transports=[{transport}]"))
    assert mistake is not None
    assert mistake.key == key
    assert mistake.expected.startswith(expected)


def test_every_parameter_can_be_set(tmp_path: Path) -> None:
    assert reliability_parameters(parse_transport("roce")) == ()
    assert reliability_parameters(parse_transport("irn+pfc")) == (
        "cap_packets",
        "rto_low",
        "rto_high",
        "rto_low_packets",
        "threshold_nacks",
    )
    assert set(FITTINGS) <= set(RELIABILITIES)
    cell = cell_of(tmp_path, "transports=[{name: irn, cap_packets: 50, rto_low_packets: 9, segment: 64KiB}]")
    assert parameter_mistake(cell) is None
    flow = build_network(cell).flows[0]
    assert flow.asked.reliability is not None
    assert flow.asked.reliability.parameters["cap_packets"] == 50
    assert flow.asked.reliability.parameters["rto_low_packets"] == 9


def test_facts(tmp_path: Path) -> None:
    assert reliability_facts(cell_of(tmp_path)) == {}
    facts = {"cap_packets": PACKETS, "rto_low_ns": 100_000, "rto_high_ns": LONG_NS}
    assert reliability_facts(cell_of(tmp_path, "transports=[irn]")) == facts


@pytest.mark.parametrize(
    ("transport", "parameters", "expected"),
    [
        ("roce", {}, None),
        ("irn+pfc", {}, None),
        ("roce+spray", {}, Spraying(64)),
        ("irn+dcqcn+pfc+spray", {"paths": 8}, Spraying(8)),
    ],
)
def test_what_is_asked_for(transport: str, parameters: dict[str, int], expected: Spraying | None) -> None:
    assert nic_spraying(carrier(transport, parameters)) == expected


def test_paths_are_a_parameter_of_what_is_sprayed() -> None:
    assert spraying_parameters(parse_transport("irn")) == ()
    assert spraying_parameters(parse_transport("irn+spray")) == ("paths",)


@pytest.mark.parametrize(
    ("transport", "key", "expected"),
    [
        ("{name: irn+spray, paths: 0}", "paths", "from 1 to 65536"),
        ("{name: irn+spray, paths: 1e9}", "paths", "from 1 to 65536"),
        ("{name: irn+spray, paths: 2.5}", "paths", "a whole number"),
        ("{name: irn+spray, paths: many}", "paths", "a number"),
        ("{name: roce+spray, paths: 48}", "paths", "paths as a power of two from 1 to 65536, got 48"),
        ("{name: irn, paths: 64}", "paths", "one of the parameters"),
        ("{name: irn+spray, threshold_nacks: 1.5}", "threshold_nacks", "a whole number"),
        ("{name: irn+spray, threshold_nacks: 0}", "threshold_nacks", "from 1 to"),
        ("{name: roce+spray, threshold_nacks: 3}", "threshold_nacks", "one of the parameters"),
    ],
)
def test_spraying_mistakes(tmp_path: Path, transport: str, key: str, expected: str) -> None:
    mistake = parameter_mistake(cell_of(tmp_path, f"transports=[{transport}]"))
    assert mistake is not None
    assert mistake.key == key
    assert mistake.expected.startswith(expected)


def test_connections_are_sprayed_and_the_cell_says_so(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: irn+spray, paths: 16, threshold_nacks: 3}]")
    assert SimulatorTestbed().unsupported(cell) is None
    assert parameter_mistake(cell) is None
    flow = build_network(cell).flows[0]
    assert flow.asked.spraying == Spraying(16)
    assert flow.asked.reliability is not None
    assert flow.asked.reliability.parameters["threshold_nacks"] == 3
    assert spraying_facts(cell) == {"paths": 16}
    assert spraying_facts(cell_of(tmp_path)) == {}


def test_a_host_that_switches_have_a_rule_for_is_refused(tmp_path: Path) -> None:
    fault = "faults=[{kind: flooding, target: s0, destination: h3}]"
    cell = cell_of(tmp_path, "transports=[irn+spray]", fault)
    assert "no rule (forward, flood) for 'h3'" in str(SimulatorTestbed().unsupported(cell))
