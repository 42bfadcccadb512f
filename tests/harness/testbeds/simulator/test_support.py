"""Tests: refuse what the simulator cannot run, before the run."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import Cell
from rogue.harness.testbeds.simulator import support
from rogue.harness.testbeds.simulator.support import (
    missing_buffer,
    missing_limiters,
    not_measured,
    unbuildable,
    unsupported,
)
from rogue.simulator import PROFILES
from rogue.workloads.traffic import Arrival, Flow, Predecessor
from rogue.workloads.traffic.fan_in import Incast

NO_WORKLOAD = """\
name: x
topology: {kind: star, hosts: 3, rate: 10Gbps, buffer: unbounded}
transports: [rogue]
"""
GROUP = "traffic=[{name: a, workload: {kind: incast, senders: 1, size: 1MB}, %s}]"


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
def test_what_it_cannot_and_what_it_has_instead(tmp_path: Path, setting: str, reason: str) -> None:
    assert unsupported(cell_of(tmp_path, setting)) == reason


def test_tcp_takes_no_more_at_once(tmp_path: Path) -> None:
    assert unsupported(cell_of(tmp_path, "transports=[dctcp]", "probe=null", "workload.size=1TiB")) is None
    assert unsupported(cell_of(tmp_path, "transports=[dctcp]", "probe=null", "workload.size=2TiB")) == (
        "a transfer has 2199023255552 bytes, expected at most 1099511627776 over TCP; lower its size"
    )
    assert unsupported(cell_of(tmp_path, "transports=[roce]", "probe=null", "workload.size=2TiB")) is None


def test_tcp_may_stand_beside_what_takes_more(tmp_path: Path) -> None:
    large = "{name: b, workload: {kind: incast, senders: 1, size: 2TB}, transport: roce}"
    small = GROUP % "transport: dctcp"
    assert unsupported(cell_of(tmp_path, f"{small[:-1]}, {large}]", text=NO_WORKLOAD)) is None


@pytest.mark.parametrize("transport", ["roce+timely", "roce+hpcc"])
def test_responses_to_reads_teach_nothing(tmp_path: Path, transport: str) -> None:
    cell = cell_of(tmp_path, f"transports=[{transport}]", "workload.verb=read")
    assert unsupported(cell) == (
        f"{transport} learns from acknowledgements, and responses to READs have none: use the verb write"
    )
    cell = cell_of(tmp_path, "transports=[roce+rocc]", "workload.verb=read")
    assert unsupported(cell) is None


def test_connections_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(type(cell.groups[0].asked.workload), "flows", None)
    assert f"expected at most 15.5: {advice}" in str(unsupported(cell))


def test_an_all_to_all_of_1024_hosts_is_within_the_bounds(tmp_path: Path) -> None:
    """1 047 552 connections; of RoGUE, which has two queue pairs for each, they would take 22 GB."""
    connections = 1024 * 1023
    assert connections * support.CONNECTION_BYTES < support.CONNECTIONS_BYTES_MAX
    assert connections * support.LARGER_BYTES["uet"] < support.CONNECTIONS_BYTES_MAX
    assert connections * support.LARGER_BYTES["rogue"] > support.CONNECTIONS_BYTES_MAX


def test_a_card_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "PROFILES", {"ideal": PROFILES["ideal"]})
    assert unsupported(cell_of(tmp_path)) == "the simulator has no NIC cx3pro; it has ideal: set topology.nic"
    assert unsupported(cell_of(tmp_path, "topology.nic=ideal")) is None


def test_only_what_was_asked_for_needs_a_reason(tmp_path: Path) -> None:
    assert set(not_measured(cell_of(tmp_path))) == {"cpu"}
    assert set(not_measured(cell_of(tmp_path, "measure=[queues, cpu]"))) == {"cpu"}
    assert not_measured(cell_of(tmp_path, "measure=[queues, pauses]")) == {}


def test_what_waits_for_arrivals_needs_a_transport_that_loses_nothing(tmp_path: Path) -> None:
    workload = "workload={kind: collective, hosts: 3, size: 1MB}"
    assert unsupported(cell_of(tmp_path, workload, "transports=[irn]")) is None
    told = unsupported(cell_of(tmp_path, workload, "transports=[roce-uc]"))
    assert told is not None
    assert told.startswith("main has transfers that wait for others to arrive, and what UC loses never does")


def test_what_waits_in_a_circle_never_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    circle = tuple(
        Flow(a, b, "write", 1, 0, arrivals=(Arrival(0, 1, (Predecessor(f"{b}->{a}", 0, "arrival"),)),))
        for a, b in (("h0", "h1"), ("h1", "h0"))
    )
    monkeypatch.setattr(Incast, "flows", lambda *_: circle)
    told = unsupported(cell_of(tmp_path, "workload={kind: incast, senders: 2, size: 31KB}"))
    assert told == "transfers of main wait for each other in a circle (after): let one start for itself"


PFC = "transports=[roce+pfc]"
LINK_BYTES = 3 * (1024 + 62 + 16 + 4 + 20) + 84 + 2513
"""Three of the largest frames, a pause frame, and what is on 1.005 us of cable there and back at 10 Gb/s."""


@pytest.mark.parametrize(("switch", "links", "whose"), [("shared", 4, "its 4 links"), ("voq", 1, "a link")])
def test_the_sentence_names_what_is_enough(tmp_path: Path, switch: str, links: int, whose: str) -> None:
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


def test_a_threshold_leaves_room_for_the_headroom(tmp_path: Path) -> None:
    settings = (PFC, "topology.buffer=100KB", "topology.pause_headroom=20KB")
    assert missing_buffer(cell_of(tmp_path, *settings, "topology.pause_xoff=20KB")) is None
    assert missing_buffer(cell_of(tmp_path, *settings, "topology.pause_xoff=20001B")) == (
        "s0 would pause from 20001B on and has 20000 bytes beside the headroom of its 4 links: "
        "lower topology.pause_xoff, or raise topology.buffer"
    )


def test_without_flow_control_or_bounds_there_is_none(tmp_path: Path) -> None:
    assert missing_buffer(cell_of(tmp_path, "topology.buffer=1B")) is None
    assert missing_buffer(cell_of(tmp_path, PFC, "topology.buffer=unbounded")) is None


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


def test_as_many_readers_as_limiters_are_served(tmp_path: Path) -> None:
    assert missing_limiters(cell(tmp_path, 8)) is None


@pytest.mark.parametrize("writers", [0, 1])
def test_one_reader_more_is_told_before_the_run(tmp_path: Path, writers: int) -> None:
    """A flow that writes from the same host needs a limiter, too."""
    crowded = cell(tmp_path, 9 - writers, writers=writers)
    reason = missing_limiters(crowded)
    assert reason is not None
    assert reason.startswith(f"h0 responds to the READs of {9 - writers} flows and needs 9 limiters")
    assert "has 8: let fewer hosts read from it" in reason
    assert unsupported(crowded) == reason


def test_flows_without_rates_need_no_limiter(tmp_path: Path) -> None:
    assert missing_limiters(cell(tmp_path, 9, "transports=[roce]")) is None


def test_a_card_with_a_limiter_for_each_queue_pair_serves_all(tmp_path: Path) -> None:
    assert missing_limiters(cell(tmp_path, 9, "topology.nic=cx4")) is None
