"""Test the tables of a simulated cell."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from helpers.experiments import cell_of, simulated

from rogue.agent.core.actions import RttSample
from rogue.agent.core.cc import CONGESTION_CONTROLS
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.simulated import QueuePairProgress, SimulatedFlow
from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator.network import build_network
from rogue.harness.testbeds.simulator.tables import (
    ResentBytes,
    columns_of_samples,
    mean_estimate_bps,
    new_bytes,
)
from rogue.simulator import PROFILES

SINGLE = """\
name: single
topology: {kind: star, hosts: 2, rate: 10Gbps, nic: ideal, delay_spread: 0ns}
workload: {kind: incast, senders: 1, size: 1MiB}
transports: [roce]
"""


def rows(result: CellResult, table: str) -> list[dict[str, object]]:
    return list(to_arrow(table, result.tables[table]).to_pylist())


def test_flow_rows_agree_with_each_other(tmp_path: Path) -> None:
    for row in rows(simulated(tmp_path), "flows"):
        assert row["end_ns"] - row["start_ns"] == row["fct_ns"]
        assert row["slowdown"] == pytest.approx(row["fct_ns"] / row["ideal_fct_ns"])
        assert row["goodput_bps"] == pytest.approx(row["size_bytes"] * 8e9 / row["fct_ns"])
        assert row["slowdown"] >= 1


def test_transfers_cut_off_by_time_are_unfinished(tmp_path: Path) -> None:
    result = simulated(tmp_path, "workload.repeat_for=3ms")
    by_flow = {flow: [row for row in rows(result, "flows") if row["src"] == flow] for flow in ("h0", "h1")}
    for transfers in by_flow.values():
        assert [row["transfer_id"] for row in transfers] == list(range(1, len(transfers) + 1))
        assert [row["status"] for row in transfers[:-1]] == ["ok"] * (len(transfers) - 1)
        assert transfers[-1]["status"] == "unfinished"
        assert (transfers[-1]["end_ns"], transfers[-1]["fct_ns"]) == (None, None)


def test_last_row_covers_the_rest_of_the_run(tmp_path: Path) -> None:
    """3.24 ms in intervals of 1 ms: finished transfers have bytes of the last 0.24 ms."""
    result = simulated(tmp_path, "workload.repeat_for=3240us", "measure=[{kind: throughput, interval: 1ms}]")
    of_h0 = [row for row in rows(result, "throughput") if row["src"] == "h0"]
    assert [(row["t_ns"], row["interval_ns"]) for row in of_h0] == [
        (1_000_000, 1_000_000), (2_000_000, 1_000_000), (3_000_000, 1_000_000), (3_240_000, 240_000),
    ]  # fmt: skip
    assert of_h0[-1]["goodput_bps"] == of_h0[-1]["delivered_bytes"] * 8e9 / 240_000
    delivered = sum(row["delivered_bytes"] for row in rows(result, "throughput"))
    finished = sum(row["size_bytes"] for row in rows(result, "flows") if row["status"] == "ok")
    assert finished <= delivered


def test_probe_of_an_idle_network_has_the_empty_round_trip(tmp_path: Path) -> None:
    text = SINGLE.replace("hosts: 2", "hosts: 3") + "probe: {kind: write0, interval: 10us}\n"
    probes = rows(simulated(tmp_path, "workload.size=1B", text=text), "latency")
    assert [row["src"] for row in probes[:2]] == ["h1", "h1"]
    # 98 and 86 bytes over two links at 0.8 ns per byte and 1 us each
    assert probes[-2]["rtt_ns"] == pytest.approx(4_000 + 2 * (98 + 86) * 0.8, abs=1)
    gaps = {later["t_ns"] - earlier["t_ns"] for earlier, later in pairwise(probes)}
    assert gaps == {10_000}


def test_unsent_probes_have_no_rows(tmp_path: Path) -> None:
    """From 1 ms on nothing arrives; the probe's send queue is full long before its queue pair fails."""
    text = SINGLE.replace("hosts: 2", "hosts: 3") + "probe: {kind: write0, interval: 500us}\n"
    text += "faults: [{kind: link_cut, target: h2, at: 1ms, duration: 10s}]\n"
    flow = ("workload.size=1GB", "transports=[roce]")
    probes = rows(simulated(tmp_path, *flow, text=text), "latency")
    lost = [row for row in probes if row["status"] == "error"]
    assert len(lost) == 512


def test_cable_lengths_are_drawn_from_the_seed(tmp_path: Path) -> None:
    text = SINGLE.replace("hosts: 2", "hosts: 3").replace("delay_spread: 0ns", "delay_spread: 100ns")
    text += "probe: {kind: write0, interval: 10us}\n"
    idle_ns = 4_000 + 2 * (98 + 86) * 0.8
    rtts_ns = [
        rows(simulated(tmp_path, "workload.size=1B", f"seed={seed}", text=text), "latency")[-2]["rtt_ns"]
        for seed in (1, 2, 3)
    ]
    assert len(set(rtts_ns)) == 3  # drawn from the cell's seed
    assert all(idle_ns - 1 <= rtt_ns <= idle_ns + 4 * 100 for rtt_ns in rtts_ns)


def test_queues_and_counters(tmp_path: Path) -> None:
    result = simulated(tmp_path, "transports=[roce]", "workload.size=4MB", "topology.buffer=100KB")
    queues = [row for row in rows(result, "queues") if row["port"] == "s0->h3"]
    counters = {(row["port"], row["name"]): row for row in rows(result, "counters")}
    assert max(row["max_bytes"] for row in queues) == pytest.approx(50_000, rel=0.05)
    assert sum(row["drops"] for row in queues) <= counters["s0->h3", "drops"]["after"]
    assert sum(row["drops"] for row in queues) > 0
    assert {row["before"] for row in counters.values()} == {0}
    retransmitted = [row["retransmitted_bytes"] for row in rows(result, "flows")]
    assert sum(retransmitted) > 0


def test_estimates_are_beside_the_true_rtt(tmp_path: Path) -> None:
    result = simulated(tmp_path, "workload.repeat_for=50ms")
    samples = [row for row in rows(result, "rtt") if row["accepted"]]
    assert len(samples) > 50
    assert all(row["true_rtt_ns"] is not None for row in samples)
    of_pci_ns = PROFILES["cx3pro"].pci_rc_ns  # the card's times carry it, the truth does not
    assert abs(np.median([row["rtt_ns"] - row["true_rtt_ns"] for row in samples]) - of_pci_ns) < 1_000
    assert {row["flow_id"] for row in samples} == {"main/h0->h3", "main/h1->h3"}


def test_throughput_rows_have_the_agents_estimates(tmp_path: Path) -> None:
    result = simulated(
        tmp_path, "workload.repeat_for=50ms", "measure=[{kind: throughput, interval: 10ms}, rtt]"
    )
    last = rows(result, "throughput")[-1]
    samples = [
        row
        for row in rows(result, "rtt")
        if row["flow_id"] == last["flow_id"] and 40_000_000 < row["t_ns"] <= 50_000_000
    ]
    believed = [row["cwnd_packets"] * 1024 * 8e9 / row["rtt_ns"] for row in samples if row["accepted"]]
    assert last["cwnd_over_rtt_bps"] == pytest.approx(np.mean(believed))
    assert last["limiter_bps"] == samples[-1]["limiter_bps"]
    assert rows(result, "throughput")[0]["limiter_bps"] is not None


@pytest.mark.parametrize("control", CONGESTION_CONTROLS)
def test_samples_of_every_control_fit_the_schema(tmp_path: Path, control: str) -> None:
    transport = f"transports=[{{name: rogue, cc: {control}}}]"
    samples = rows(simulated(tmp_path, transport, "workload.repeat_for=20ms"), "rtt")
    assert samples
    believes = control == "vegas"  # the others have no idea of a base RTT
    assert {row["base_rtt_ns"] is not None for row in samples} == {believes}


def test_zero_rtt_sample_is_left_out_of_the_mean() -> None:
    """Three accepted samples, one per interval: one of no time at all, and two of 10 packets on 1 us."""
    columns = [(5, 0), (15, 1_000), (25, 1_000)]
    own = columns_of_samples(
        [
            RttSample(HostNs(t_ns), 1, rtt_ns, None, 10.0, 0, True, "accepted", False)
            for t_ns, rtt_ns in columns
        ]
    )
    edges_ns = np.array([0, 10, 20, 30])
    means_bps = mean_estimate_bps(own, edges_ns[:-1], edges_ns[1:], 1000)
    assert np.isnan(means_bps[0])
    assert list(means_bps[1:]) == [80e9, 80e9]


def test_windows_below_two_segments_are_overruled(tmp_path: Path) -> None:
    """Two segments are 128 packets; Vegas keeps far fewer for each of two senders."""
    samples = rows(simulated(tmp_path, "workload.repeat_for=20ms"), "rtt")
    assert all(row["overruled"] is (row["cwnd_packets"] < 128) for row in samples)
    wide = rows(
        simulated(tmp_path, "transports=[{name: rogue, cwnd_min_packets: 128, cwnd_initial_packets: 128}]"),
        "rtt",
    )
    assert {row["overruled"] for row in wide} == {False}
    assert {row["overruled"] for row in samples} == {True}


def test_failed_queue_pair_ends_its_flow_with_the_error(tmp_path: Path) -> None:
    parameters = "transports=[{name: roce, retry_count: 0, timeout_exponent: 4}]"
    result = simulated(tmp_path, parameters, "workload.size=8MB", "topology.buffer=20KB")
    failed = [row for row in rows(result, "flows") if row["status"] == "error"]
    assert failed
    assert {row["error"] for row in failed} == {"IBV_WC_RETRY_EXC_ERR"}
    assert result.facts["qp_failures"] == len({row["flow_id"] for row in failed})


PLANES = """\
name: x
topology:
  {kind: multi_plane, planes: 2, leaves: 1, hosts_per_leaf: 4, spines: 0, rate: 20Gbps, nic: ideal,
   delay_spread: 0ns}
workload: {kind: incast, senders: 3, size: 1MB}
transports: [roce+pfc]
faults: [{kind: slow_receiver, target: h3, rate: 1Gbps}]
measure: [{kind: queues, interval: 10us}, pauses]
"""


def column(tmp_path: Path, table: str, name: str, *settings: str) -> list[str]:
    result = simulated(tmp_path, *settings, text=PLANES)
    return [str(row[name]) for row in to_arrow(table, result.tables[table]).to_pylist()]


def test_queues_of_nics_are_left_out(tmp_path: Path) -> None:
    assert {*column(tmp_path, "queues", "node")} == {"s4", "s5"}


def test_pauses_between_hosts_and_nics_are_left_out(tmp_path: Path) -> None:
    """The receiver's NIC pauses leaves, and these the senders' NICs."""
    ports = {*column(tmp_path, "pauses", "port")}
    assert {"s4->s3", "s0->s4"} <= ports
    assert not any("h" in port for port in ports)


def test_sprayed_transfer_over_two_planes_is_nearly_twice_as_fast(tmp_path: Path) -> None:
    """Ports have equal parts on average alone, and the slowest packet counts."""
    spray = "transports=[{name: irn+spray, paths: 1024, threshold_nacks: 64}]"
    alone = ("workload.senders=1", "faults=[]")
    (sprayed_ns,) = map(int, column(tmp_path, "flows", "fct_ns", *alone, spray))
    (plain_ns,) = map(int, column(tmp_path, "flows", "fct_ns", *alone))
    assert 1.5 < plain_ns / sprayed_ns < 2
    (slowdown,) = map(float, column(tmp_path, "flows", "slowdown", *alone, spray))
    assert 1 <= slowdown < 1.3


MAIN, SHADOW = 7, 9


def new(rows: list[tuple[int, int, int]], *qp_periods: QueuePairProgress) -> list[int]:
    """Of rows of queue pair, time and delivered bytes."""
    qp_num, t_ns, delivered_bytes = np.array(rows, np.int64).T
    table = {"qp_num": qp_num, "t_ns": t_ns, "delivered_bytes": delivered_bytes}
    bytes_per_interval: list[int] = new_bytes(table, qp_periods, np.unique(t_ns)).tolist()
    return bytes_per_interval


def test_bytes_repeated_by_the_shadow_count_once() -> None:
    """300 bytes were there and 100 completed, so that the shadow's first 200 bytes are known."""
    rows = [(MAIN, 10, 300), (MAIN, 20, 0), (SHADOW, 20, 150), (SHADOW, 30, 150), (SHADOW, 40, 100)]
    first, second = QueuePairProgress(MAIN, 0, 0), QueuePairProgress(SHADOW, 100, 0)
    assert new(rows, first, second) == [300, 0, 100, 100]


def test_bytes_that_arrive_after_a_switch_count_on_arrival() -> None:
    """The main queue pair brings 50 bytes more after the switch: the shadow's first 150 are known."""
    rows = [(MAIN, 10, 200), (SHADOW, 20, 100), (MAIN, 20, 50), (SHADOW, 30, 100)]
    assert new(rows, QueuePairProgress(MAIN, 0, 0), QueuePairProgress(SHADOW, 100, 0)) == [200, 50, 50]


def test_recovered_queue_pair_continues_after_its_delivered_bytes() -> None:
    """The main one delivered 100 of 300 bytes, the shadow 50 from 80 on, and then the main one from 120."""
    rows = [(MAIN, 10, 100), (SHADOW, 20, 50), (MAIN, 30, 60), (MAIN, 40, 120)]
    qp_periods = (
        QueuePairProgress(MAIN, 0, 0),
        QueuePairProgress(SHADOW, 80, 0),
        QueuePairProgress(MAIN, 120, 100),
    )
    assert new(rows, *qp_periods) == [100, 30, 50, 120]


@pytest.mark.parametrize("verb", ["write", "send", "read"])
def test_flow_with_failed_queue_pairs_delivers_its_transfers(tmp_path: Path, verb: str) -> None:
    settings = (
        "transports=[{name: rogue, retry_count: 1, timeout_exponent: 4}]",
        "topology.buffer=30KB",
        "workload.size=4MB",
        f"workload.verb={verb}",
        "measure=[{kind: throughput, interval: 100us}]",
    )
    result = simulated(tmp_path, *settings)
    assert set(result.tables["flows"]["status"]) == {"ok"}
    throughput = result.tables["throughput"]
    assert result.facts["qp_failures"] > 0
    for flow_id in set(throughput["flow_id"]):
        own = throughput["flow_id"] == flow_id
        assert throughput["delivered_bytes"][own].sum() == 4_000_000
        assert throughput["delivered_bytes"][own].min() >= 0


LOSSY = "faults=[{kind: loss, target: h1, one_in: 20, from: 1ms}]"


def test_retransmitted_bytes_of_intervals_and_transfers_agree(tmp_path: Path) -> None:
    often = "measure=[{kind: throughput, interval: 100us}]"
    tables = simulated(tmp_path, LOSSY, "transports=[roce]", often).tables
    rows = {
        name: np.asarray(tables["throughput"][name]) for name in ("flow_id", "t_ns", "retransmitted_bytes")
    }
    of_h1 = rows["flow_id"] == "main/h1->h3"
    assert rows["retransmitted_bytes"][~of_h1].sum() == 0
    assert rows["retransmitted_bytes"][of_h1 & (rows["t_ns"] <= 1_000_000)].sum() == 0
    by_transfer = dict(zip(tables["flows"]["src"], tables["flows"]["retransmitted_bytes"], strict=True))
    assert rows["retransmitted_bytes"][of_h1].sum() == by_transfer["h1"]
    assert by_transfer["h1"] >= 1024  # type: ignore[operator]


def test_interval_without_readings_at_both_ends_is_unknown(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    network = build_network(cell)
    resent = ResentBytes(network)
    network.simulation.run_until(20_000)
    resent.read()
    edges_ns, first = np.array([0, 10_000, 20_000]), np.array([0])
    assert np.isnan(resent.within(first.repeat(2), edges_ns[:-1], edges_ns[1:])).all()
    assert resent.within(first, edges_ns[:1], edges_ns[2:]).tolist() == [0]


def test_unchanged_totals_are_stored_once(tmp_path: Path) -> None:
    network = build_network(cell_of(tmp_path))
    agents = [SimpleNamespace(retransmitted_bytes=0) for _ in range(2)]
    flows = zip(network.flows, agents, strict=True)
    resent = ResentBytes(
        replace(
            network, flows=tuple(replace(flow, agent=cast("SimulatedFlow", agent)) for flow, agent in flows)
        )
    )
    for t_ns, so_far in ((10_000, 0), (20_000, 7), (30_000, 7)):
        agents[1].retransmitted_bytes = so_far
        network.simulation.run_until(t_ns)
        resent.read()
    starts_ns = np.array([0, 10_000, 20_000])
    for number, expected in ((0, [0, 0, 0]), (1, [0, 7, 0])):
        of_flow = np.full(3, number)
        assert resent.within(of_flow, starts_ns, starts_ns + 10_000).tolist() == expected
    assert len(resent._totals) == 2
