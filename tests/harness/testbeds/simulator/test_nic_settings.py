"""Tests: settings and wire rates of NICs."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from helpers.experiments import cell_of, load_text
from helpers.sample_run import write_manifest
from helpers.small_runs import cell as entry_of
from helpers.small_runs import manifest

from rogue.harness.cell.transport import ParameterError
from rogue.harness.experiment.load import resolve
from rogue.harness.plan.plan import plan_cells
from rogue.harness.results.tables import encode
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.harness.testbeds.simulator.round_trip import RoundTrip, empty_round_trip
from rogue.harness.testbeds.simulator.support import missing_limiters
from rogue.harness.testbeds.simulator.values import check_together
from rogue.reports.metrics import METRICS
from rogue.reports.quantities import Unit
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.simulator import CX3PRO, CX4, SimulationError
from rogue.workloads.transports import BASES


def test_a_nic_is_as_its_profile_says_but_for_the_limiters_that_are_stated(tmp_path: Path) -> None:
    topology = cell_of(tmp_path, "topology.rate=10Gbps").topology
    assert profile_of(topology, "h0") is CX3PRO
    fewer = cell_of(tmp_path, "topology.rate=25Gbps", "topology.nic_limiters=2").topology
    stated = profile_of(fewer, "h0")
    assert (stated.limiters, stated.limiter_scope) == (3, "per_priority"), "and one that is never programmed"
    assert (stated.name, stated.rate_step_bps) == ("cx4", CX4.rate_step_bps)


def test_the_one_that_is_never_programmed_is_nobodys(tmp_path: Path) -> None:
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
    """The cap's name stands in the sentence about the gap, too."""
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
def test_who_is_to_blame_is_tried_and_not_read(stated: dict[str, float], key: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check_together(check, stated)
    assert caught.value.mistake.key == key


def test_what_is_expected_is_read_from_its_field() -> None:
    with pytest.raises(ParameterError) as caught:
        check_together(check, {"gap_ns": 10})
    assert caught.value.mistake.expected == "gap_ns up to rest_ns, got 10"
    with pytest.raises(ParameterError) as caught:
        check_together(check, {"cap_packets": 8})
    assert caught.value.mistake.expected == "x: expected cap_packets up to 7, got more"


def test_values_that_go_together() -> None:
    check_together(check, {"gap_ns": 20, "rest_ns": 30, "cap_packets": 7})


IRN = """\
name: x
topology: {kind: fat_tree, k: 6, rate: 40Gbps, delay: 2us, delay_spread: 0ns, buffer: 1440KB}
workload: {kind: poisson, load: 0.7, sizes: irn, arrive_for: 1ms}
transports: [irn]
"""


def test_the_network_of_irn(tmp_path: Path) -> None:
    """24 us of cables, six times 1106 and 86 bytes at 40 Gb/s: 115 packets. A buffer lasts 288 us."""
    cell = cell_of(tmp_path, text=IRN)
    assert empty_round_trip(cell) == RoundTrip(24_000 + 1_431, 115, 288_000)
    ports = cell_of(tmp_path, "topology.switch=voq", "topology.buffer=240KB", text=IRN)
    assert empty_round_trip(ports) == empty_round_trip(cell)


def test_ten_gigabit(tmp_path: Path) -> None:
    """4 us and 20 ns of cables, twice 1106 and 86 bytes: 7.4 KB, or 7 packets; 9 MB last 7.2 ms."""
    assert empty_round_trip(cell_of(tmp_path)) == RoundTrip(4_020 + 1_908, 7, 7_200_000)


def test_an_unbounded_buffer(tmp_path: Path) -> None:
    assert empty_round_trip(cell_of(tmp_path, "topology.buffer=unbounded")).full_buffer_ns is None


def test_what_waits_in_nics_of_several_ports_bounds_nothing(tmp_path: Path) -> None:
    """200 KB of a leaf last 160 us at a quarter of 40 Gb/s."""
    kind = "topology={kind: multi_plane, leaves: 1, spines: 0, rate: 40Gbps, buffer: 200KB}"
    assert empty_round_trip(cell_of(tmp_path, kind)).full_buffer_ns == 160_000
    unbounded = cell_of(tmp_path, kind, "topology.buffer=unbounded")
    assert empty_round_trip(unbounded).full_buffer_ns is None


def test_telemetry_makes_packets_longer(tmp_path: Path) -> None:
    way = empty_round_trip(cell_of(tmp_path, "transports=[roce+hpcc]"))
    assert way.round_trip_ns == 4_020 + 2_042


RATE_BPS = 10_000_000_000
# At the edges of a window the packet of one edge may be counted in full: one of 1700 in 2 ms.
ONE_PACKET = 1.001
ALONE = """\
name: wire
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 9MB}
workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}
transports: [rogue]
measure: [{kind: throughput, interval: 100us}]
"""
BESIDE = """\
name: wire
topology: {kind: star, hosts: 6, rate: 10Gbps, delay: 1us, nic: ideal, buffer: 9MB}
traffic:
  - {name: rdma, workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}}
  - {name: other, workload: {kind: incast, senders: 2, size: 10MB, repeat_for: 2ms}, transport: dctcp}
transports: [rogue]
measure: [{kind: throughput, interval: 100us}]
"""


def transports() -> Iterator[str]:
    """Every base, alone and with each feature, and each feature with flow control."""
    for name, base in BASES.items():
        yield name
        for feature in base.features:
            yield f"{name}+{feature}"
            if feature != "pfc" and "pfc" in base.features:
                yield f"{name}+{feature}+pfc"


def results_of(directory: Path, text: str, transport: str) -> Results:
    """Run the one cell of an experiment and read it as a report does."""
    directory.mkdir(exist_ok=True)
    loaded = load_text(directory, text, f"transports=[{transport}]")
    (cell,) = plan_cells(loaded)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    entry = entry_of("x-r1", transport=transport, facts=result.facts)
    (directory / "cells" / "x-r1").mkdir(parents=True)
    for name, content in encode(result.tables).items():
        (directory / "cells" / "x-r1" / name).write_bytes(content)
    write_manifest(directory, manifest([entry], experiment=resolve(loaded)))
    return Results(Run(directory))


@pytest.mark.parametrize("text", [ALONE, BESIDE], ids=["alone", "beside-dctcp"])
@pytest.mark.parametrize("transport", [*transports()])
def test_no_rate_exceeds_the_link(tmp_path: Path, transport: str, text: str) -> None:
    values = results_of(tmp_path, text, transport).values["x-r1"]
    rates = {name: values[name] for name, metric in METRICS.items() if metric.unit is Unit.RATE}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    assert {"aggregate_bps", "frames_bps", "most_flow_wire_bps"} <= set(known)
    too_fast = {name: rate for name, rate in known.items() if rate > ONE_PACKET * RATE_BPS}
    assert not too_fast
    share = values["aggregate_share"]
    assert share is not None
    # Beside a TCP the ideal is that of the network's own packets, which have more around them.
    assert share <= (ONE_PACKET if text is ALONE else 1.03)


def test_a_full_port_is_full_on_the_wire_for_each_framing(tmp_path: Path) -> None:
    """RoCE, TCP and HPCC's packets fill one port alike, though their goodput differs by 5 %."""
    for transport in ("roce+pfc", "dctcp", "iwarp", "roce+hpcc+pfc"):
        values = results_of(tmp_path / transport, ALONE, transport).values["x-r1"]
        share = values["aggregate_share"]
        assert share is not None
        assert 0.85 < share <= ONE_PACKET
