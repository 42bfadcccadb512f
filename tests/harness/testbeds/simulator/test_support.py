"""Test what the simulator refuses before the run."""

import re
from collections.abc import Container
from pathlib import Path

import pytest
from helpers.experiments import SMALL, cell_of, load_text

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.plan.plan import make_plan
from rogue.harness.testbeds.simulator import SimulatorTestbed, support
from rogue.harness.testbeds.simulator.flows import GroupFabric, connect_flow
from rogue.harness.testbeds.simulator.network import build_links, build_network
from rogue.harness.testbeds.simulator.support import (
    _sample,
    is_same_for_every_seed,
    missing_buffer,
    missing_limiters,
    unbuildable,
    unsupported,
)
from rogue.simulator import Simulation, SimulationError
from rogue.workloads.traffic import Arrival, Flow, Predecessor
from rogue.workloads.traffic.fan_in import Incast


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        (
            "measure=[{kind: queues, interval: 1ns}]",
            "queues would have 4000000000 samples, expected at most 50000000; raise its interval",
        ),
        (
            "probe={kind: write0, interval: 1ns}",
            "latency would have 1000000000 samples, expected at most 5000000; raise the probe's interval",
        ),
        (
            "measure=[control, {kind: throughput, interval: 100ns}]",
            "control would have 20000000 samples, expected at most 5000000; raise the interval of throughput",
        ),
        (
            "workload={kind: many_pairs, hosts: 3, load: 0.5, arrive_for: 1ns}",
            "nothing happens in main: its first transfer would come after its end; let it run longer",
        ),
    ],
)
def test_refusals_of_samples_and_idle_traffic(tmp_path: Path, setting: str, reason: str) -> None:
    assert unsupported(cell_of(tmp_path, setting)) == reason


def test_tcp_transfer_above_the_limit_is_refused(tmp_path: Path) -> None:
    assert unsupported(cell_of(tmp_path, "transports=[dctcp]", "probe=null", "workload.size=1TiB")) is None
    assert unsupported(cell_of(tmp_path, "transports=[dctcp]", "probe=null", "workload.size=2TiB")) == (
        "a transfer has 2199023255552 bytes, expected at most 1099511627776 over TCP; lower its size"
    )
    assert unsupported(cell_of(tmp_path, "transports=[roce]", "probe=null", "workload.size=2TiB")) is None


@pytest.mark.parametrize("transport", ["roce+timely", "roce+hpcc"])
def test_control_by_acknowledgements_is_refused_for_reads(tmp_path: Path, transport: str) -> None:
    cell = cell_of(tmp_path, f"transports=[{transport}]", "workload.verb=read")
    assert unsupported(cell) == (
        f"{transport} learns from acknowledgements, and responses to READs have none: use the verb write"
    )
    cell = cell_of(tmp_path, "transports=[roce+rocc]", "workload.verb=read")
    assert unsupported(cell) is None


def test_connections_beyond_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of RoGUE take 42 KB, three of native RoCE 37.5 KB."""
    monkeypatch.setattr(support, "CONNECTIONS_BYTES_MAX", 42_000)
    three = "workload.senders=3", "topology.hosts=5"
    assert unsupported(cell_of(tmp_path)) is None
    assert unsupported(cell_of(tmp_path, *three, "transports=[roce]")) is None
    monkeypatch.setattr(support, "CONNECTIONS_BYTES_MAX", 41_000)
    reason = unsupported(cell_of(tmp_path))
    assert reason == (
        "2 connections would take 0.0 GB, expected at most 4.1e-05: take connections, transfers or hosts away"
    )


@pytest.mark.parametrize(
    ("workload", "advice"),
    [
        ("{kind: poisson, size: 1B, load: 1, arrive_for: 1us}", "set connection to per_pair, or take"),
        ("{kind: permutation, size: 1B, connections: 1024}", "take connections"),
        ("{kind: incast, senders: 1999, size: 1B, connections: 1024}", "take connections"),
    ],
)
def test_connections_are_counted_before_they_are_drawn(
    tmp_path: Path, workload: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = cell_of(tmp_path, f"workload={workload}", "topology.hosts=2000", "probe=null")
    monkeypatch.setattr(type(cell.groups[0].spec.workload), "flows", None)
    assert f"expected at most 15.5: {advice}" in str(unsupported(cell))


def test_waiting_for_arrivals_is_refused_over_uc(tmp_path: Path) -> None:
    workload = "workload={kind: collective, hosts: 3, size: 1MB}"
    assert unsupported(cell_of(tmp_path, workload, "transports=[irn]")) is None
    reason = unsupported(cell_of(tmp_path, workload, "transports=[roce-uc]"))
    assert reason is not None
    assert reason.startswith(
        "main has transfers that wait for others to arrive, and what UC loses never does"
    )


def test_circular_waiting_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    circle = tuple(
        Flow(a, b, "write", 1, 0, arrivals=(Arrival(0, 1, (Predecessor(f"{b}->{a}", 0, "arrival"),)),))
        for a, b in (("h0", "h1"), ("h1", "h0"))
    )
    monkeypatch.setattr(Incast, "flows", lambda *_: circle)
    reason = unsupported(cell_of(tmp_path, "workload={kind: incast, senders: 2, size: 31KB}"))
    assert reason == "transfers of main wait for each other in a circle (after): let one start for itself"


PFC = "transports=[roce+pfc]"
LINK_BYTES = 3 * (1024 + 62 + 16 + 4 + 20) + 84 + 2513
"""Three of the largest frames, a pause frame, and what is on 1.005 us of cable there and back at 10 Gb/s."""


@pytest.mark.parametrize(("switch", "links", "whose"), [("shared", 4, "its 4 links"), ("voq", 1, "a link")])
def test_too_small_buffer_is_refused_with_the_size_that_suffices(
    tmp_path: Path, switch: str, links: int, whose: str
) -> None:
    """One byte more than the headroom can be built, and is not refused."""
    kind = f"topology.switch={switch}"
    needed_bytes = links * LINK_BYTES
    refused = cell_of(tmp_path, PFC, kind, f"topology.buffer={needed_bytes}B")
    assert missing_buffer(refused) == (
        f"s0 has a buffer of {needed_bytes}B and +pfc needs more than {needed_bytes} bytes, the headroom of "
        f"{whose}: raise topology.buffer, or lower topology.pause_headroom"
    )
    taken = cell_of(tmp_path, PFC, kind, f"topology.buffer={needed_bytes + 1}B")
    assert missing_buffer(taken) is None
    assert unbuildable(taken) is None


def test_pause_threshold_must_leave_room_for_the_headroom(tmp_path: Path) -> None:
    settings = (PFC, "topology.buffer=100KB", "topology.pause_headroom=20KB")
    assert missing_buffer(cell_of(tmp_path, *settings, "topology.pause_xoff=20KB")) is None
    assert missing_buffer(cell_of(tmp_path, *settings, "topology.pause_xoff=20001B")) == (
        "s0 would pause from 20001B on and has 20000 bytes beside the headroom of its 4 links: "
        "lower topology.pause_xoff, or raise topology.buffer"
    )


EXPERIMENT = """
name: limiters
topology: {kind: star, hosts: 4, rate: 10Gbps, nic: cx3pro}
traffic: [%s]
transports: [rogue]
"""
LIMITERS_GROUP = "{name: g%d, workload: {kind: incast, senders: 1, verb: %s, size: 10KB}}"


def cell(directory: Path, readers: int, *settings: str, writers: int = 0) -> Cell:
    """Groups of one flow each between h0 and another host; h0 responds to READs."""
    groups = [LIMITERS_GROUP % (number, "read") for number in range(readers)]
    groups += [LIMITERS_GROUP % (number, "write") for number in range(readers, readers + writers)]
    return cell_of(directory, *settings, text=EXPERIMENT % ", ".join(groups))


def test_as_many_readers_as_limiters_are_accepted(tmp_path: Path) -> None:
    assert missing_limiters(cell(tmp_path, 8)) is None


@pytest.mark.parametrize("writers", [0, 1])
def test_more_readers_than_limiters_are_refused(tmp_path: Path, writers: int) -> None:
    """A flow that writes from the same host also needs a limiter."""
    crowded = cell(tmp_path, 9 - writers, writers=writers)
    reason = missing_limiters(crowded)
    assert reason is not None
    assert reason.startswith(f"h0 responds to the READs of {9 - writers} flows and needs 9 limiters")
    assert "has 8: let fewer hosts read from it" in reason
    assert unsupported(crowded) == reason


def test_flows_without_rates_need_no_limiter(tmp_path: Path) -> None:
    assert missing_limiters(cell(tmp_path, 9, "transports=[roce]")) is None


RING = "topology={kind: ring, switch_count: 4, rate: 10Gbps}"
ACROSS = "workload={kind: permutation, shift: 2, size: 1MB}"
NO_PROBE = "probe=null"
TWO_WAYS = (
    "{kind: misrouting, target: s0-s1, destination: h2}, {kind: misrouting, target: s1-s0, destination: h2}"
)

REFUSED = [
    (["topology.buffer=20KB", PFC], "expected a buffer of s0 above the headroom of its links, which needs"),
    (["topology.switch=voq", "topology.buffer=5KB", PFC], "above the headroom of this link, which needs"),
    (["topology.pause_headroom=100MB", PFC], "expected a buffer of s0 above the headroom of its links"),
    (["topology.pause_xoff=10MB", PFC], "expected xoff_bytes of s0 up to its buffer less the headroom"),
    (["topology.pause_xoff=1B", PFC], "expected xon_gap_bytes below xoff_bytes, 1, got"),
    (["topology.delay=10s"], "expected delay_ps as an integer from 0 to"),
    (["topology.delay=100ms"], "got timeout_exponent 14, which is 67108864000 ps; raise it"),
    (["topology.delay=10ms", "transports=[dctcp]"], "expected rto_min_ns above the delay of the round trip"),
    (["transports=[{name: irn, rto_low: 1us}]"], "expected rto_low_ns above the delay of the round trip"),
    (
        [RING, ACROSS, NO_PROBE, f"faults=[{TWO_WAYS}]"],
        "packets from 'h0' to 'h2' go in a loop: s0, s1, s0",
    ),
]


@pytest.mark.parametrize(("settings", "sentence"), REFUSED)
def test_refusals_of_the_engine_are_known_before_the_run(
    tmp_path: Path, settings: list[str], sentence: str
) -> None:
    cell = cell_of(tmp_path, *settings)
    assert unsupported(cell)
    assert sentence in (unbuildable(cell) or "")
    with pytest.raises(SimulationError) as caught:
        build_network(cell)
    assert str(caught.value) == unbuildable(cell)


@pytest.mark.parametrize("settings", [settings for settings, _ in REFUSED])
def test_sample_of_a_network_is_refused_as_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: list[str]
) -> None:
    """Cables differ by picoseconds, so the delay of another path of the same shape does too."""
    fat_tree = "topology={kind: fat_tree, k: 4, rate: 10Gbps, buffer: 9MB}"
    cell = cell_of(tmp_path, fat_tree, "workload={kind: permutation, size: 1MB}", NO_PROBE, *settings)
    whole = unsupported(cell)
    monkeypatch.setattr(support, "SAMPLED_LINKS_MIN", 0)
    assert whole
    assert re.sub(r"\d+ ps", "", str(unsupported(cell))) == re.sub(r"\d+ ps", "", whole)


def test_sample_of_a_large_network_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fat_tree = "topology={kind: fat_tree, k: 8, rate: 10Gbps, buffer: 9MB}"
    cell = cell_of(tmp_path, fat_tree, "workload={kind: permutation, size: 1MB}", NO_PROBE)
    assert _sample(cell) is None
    monkeypatch.setattr(support, "SAMPLED_LINKS_MIN", 0)
    nodes = _sample(cell)
    assert nodes is not None
    assert len(nodes) < 40 < len(cell.topology.host_names())


@pytest.mark.parametrize(
    ("destination", "who"),
    [
        ("h0", "connect h1-h0: packets from 'h1' to 'h0'"),
        ("h1", "connect h1-h0: packets from 'h0' to 'h1'"),
        ("h2", None),
    ],
)
def test_routing_loops_are_found_for_every_pair_of_hosts(
    tmp_path: Path, destination: str, who: str | None
) -> None:
    """The loop lies on the way of the second flow alone, of its packets or of what acknowledges them."""
    faults = ", ".join(
        f"{{kind: misrouting, target: {way}, destination: {destination}}}" for way in ("s1-s2", "s2-s1")
    )
    flows = "[{source: h0, destination: h3}, {source: h1, destination: h0}]"
    traffic = f"workload={{kind: pairs, run_for: 1ms, flows: {flows}}}"
    refusal = unbuildable(cell_of(tmp_path, RING, traffic, NO_PROBE, f"faults=[{faults}]"))
    assert refusal is None if who is None else str(refusal).startswith(f"{who} go in a loop")


def test_routing_loop_of_the_probe_is_found(tmp_path: Path) -> None:
    """It alone comes by s2: the flow goes from h1 to h0."""
    ways = (f"{{kind: misrouting, target: {way}, destination: h1}}" for way in ("s3-s2", "s2-s3"))
    traffic = "workload={kind: pairs, run_for: 1ms, flows: [{source: h1, destination: h0}]}"
    probe = "probe={kind: write0, interval: 1ms, target: h1}"
    refusal = unbuildable(cell_of(tmp_path, RING, traffic, probe, f"faults=[{', '.join(ways)}]"))
    assert str(refusal).startswith("connect h2-h1: packets from 'h2' to 'h1' go in a loop: s2, s3, s2")


POISSON = "workload={kind: poisson, load: 0.5, size: 1KB, arrive_for: %s, drain_for: 1ms}"


@pytest.mark.parametrize(
    ("settings", "is_same"),
    [
        ([], True),
        ([POISSON % "10ms", NO_PROBE], True),
        ([POISSON % "1us", NO_PROBE], False),
        ([RING, ACROSS, NO_PROBE], True),
        ([RING, ACROSS, NO_PROBE, "topology.ttl_hops=9", f"faults=[{TWO_WAYS}]"], False),
        ([RING, ACROSS, NO_PROBE, "faults=[{kind: flooding, target: s0, destination: h2}]"], False),
    ],
)
def test_each_seed_is_tried_if_seeds_may_differ(tmp_path: Path, settings: list[str], is_same: bool) -> None:
    """Seeds decide if a hash may send packets in a loop, or if few transfers are drawn."""
    assert is_same_for_every_seed(cell_of(tmp_path, *settings)) is is_same


def test_network_is_built_once_for_all_repetitions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And of its flows one of each group is connected on each shape of path."""
    built, connected = list[str](), list[str]()

    def build(cell: Cell, nodes: Container[str] | None) -> Simulation:
        built.append(cell.id)
        return build_links(cell, nodes)

    def connect(fabric: GroupFabric, planned: PlannedFlow) -> object:
        connected.append(planned.flow_id)
        return connect_flow(fabric, planned)

    monkeypatch.setattr(support, "build_links", build)
    monkeypatch.setattr(support, "connect_flow", connect)
    fat_tree = "topology={kind: fat_tree, k: 4, rate: 10Gbps}"
    settings = fat_tree, POISSON % "2ms", NO_PROBE, "transports=[irn, roce-lossy]", "repetitions=5"
    plan = make_plan(load_text(tmp_path, SMALL, *settings), SimulatorTestbed())
    assert len(plan.runnable) == 10
    assert built == ["irn-r1", "roce-lossy-r1"]
    assert len(connected) == 2 * 3  # two, four or six links
