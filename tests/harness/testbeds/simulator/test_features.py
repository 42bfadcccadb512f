"""Test features of transports, and the packets that a cell records."""

from pathlib import Path

import pytest
from helpers.experiments import RECORDED, cell_of, packets_of_cell, simulated

from rogue.agent.core.transports import TRANSPORTS
from rogue.harness.errors import ConfigError
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.harness.testbeds.simulator.features import (
    feature_facts,
    flow_control,
    marking,
    unsupported_feature,
)
from rogue.harness.testbeds.simulator.network import build_network
from rogue.simulator import CONTROLS, RELIABILITIES, Marking
from rogue.workloads.transports import BASES, NIC_CONTROLS, parse_transport

INCAST = """\
name: pauses
topology: {kind: star, hosts: 6, rate: 10Gbps, buffer: 1MB}
workload: {kind: incast, senders: 4, size: 1MB}
probe: {kind: write0, interval: 100us}
transports: [roce, roce+pfc, rogue+pfc]
measure: [queues, pauses, throughput]
"""
SHARED = """\
name: shares
topology: {kind: star, hosts: 4, rate: 10Gbps, buffer: unbounded}
traffic:
  - {name: a, workload: {kind: pairs, size: 1MB, run_for: 10ms, flows: [{source: h0, destination: h2}]}}
  - name: b
    priority: 1
    workload: {kind: pairs, size: 1MB, run_for: 10ms, flows: [{source: h1, destination: h2}]}
transports: [roce]
measure: [throughput]
"""
DCQCN_MARKING = Marking(5_000, 200_000, 0.01)
GROUPS = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: bulk, workload: {kind: incast, senders: 2, size: 1MB}}
  - {name: rival, workload: {kind: incast, senders: 1, size: 1MB}, transport: roce}
transports: [roce+pfc]
"""


def test_pfc_prevents_drops_of_an_incast(tmp_path: Path) -> None:
    without, native, rogue = (simulated(tmp_path, text=INCAST, index=index) for index in range(3))
    assert sum(without.tables["queues"]["drops"]) > 0
    assert len(without.tables["pauses"]["port"]) == 0
    assert sum(native.tables["queues"]["drops"]) == sum(rogue.tables["queues"]["drops"]) == 0
    pauses = native.tables["pauses"]
    assert {f"h{i}->s0" for i in range(4)} <= set(pauses["port"])
    assert set(pauses["priority"]) == {0}
    assert sum(pauses["duration_ns"]) > sum(rogue.tables["pauses"]["duration_ns"])
    assert sum(native.tables["flows"]["retransmitted_bytes"]) == 0


def test_headroom_is_for_the_largest_packet(tmp_path: Path) -> None:
    assert flow_control(cell_of(tmp_path, text=INCAST)) is None
    for mtu, largest in ((256, 1024), (1024, 1024), (4096, 4096)):
        control = flow_control(cell_of(tmp_path, f"topology.mtu={mtu}", text=INCAST, index=1))
        assert control is not None and control.mtu_bytes == largest


def test_facts(tmp_path: Path) -> None:
    assert feature_facts(cell_of(tmp_path, text=INCAST)) == {}
    facts = {"pfc_alpha": 1 / 16, "pfc_pause": "until resumed"}
    assert feature_facts(cell_of(tmp_path, text=INCAST, index=1)) == facts
    facts = {"pfc_xoff_bytes": 20_000, "pfc_pause": "until resumed"}
    assert feature_facts(cell_of(tmp_path, "topology.pause_xoff=20KB", text=INCAST, index=1)) == facts
    facts = {"switch": "voq", "pfc_pause": "until resumed"}
    assert feature_facts(cell_of(tmp_path, "topology.switch=voq", text=INCAST, index=1)) == facts
    facts = {"kmin_bytes": 5_000, "kmax_bytes": 200_000, "pmax": 0.01}
    assert feature_facts(cell_of(tmp_path, "transports=[roce+dcqcn]", text=INCAST)) == facts
    averaged = "transports=[{name: roce+dcqcn, average_weight: 0.002, drops_above: 1, drops_instead: 1}]"
    facts |= {"average_weight": 0.002, "drops_above": True, "drops_instead": True}
    assert feature_facts(cell_of(tmp_path, averaged, text=INCAST)) == facts


def test_groups_of_different_priorities_may_have_different_features(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "traffic[0].priority=3", text=GROUPS)
    assert unsupported_feature(cell) is None
    control = flow_control(cell)
    assert control is not None and control.priorities == (3,)


BESIDE = """\
name: x
topology: {kind: star, hosts: 5, rate: 10Gbps, buffer: 2MB}
traffic:
  - {name: rdma, priority: 3, workload: {kind: incast, senders: 2, size: 2MB}}
  - name: tcp
    priority: 1
    transport: dctcp
    parameters: {mark_above: 60KB}
    workload: {kind: incast, senders: 2, size: 2MB}
transports: [roce+dcqcn, {name: roce+dcqcn, kmin: 20KB, kmax: 1MB, pmax: 0.5, label: late}]
measure: [queues]
"""


def test_groups_of_different_priorities_are_marked_differently(tmp_path: Path) -> None:
    step = Marking(60_000, 60_000, 1.0, at="arrival")
    usual, late = (cell_of(tmp_path, text=BESIDE, index=index) for index in range(2))
    assert unsupported_feature(usual) is None
    assert marking(usual) == {3: DCQCN_MARKING, 1: step}
    assert marking(late) == {3: Marking(20_000, 1_000_000, 0.5), 1: step}
    assert feature_facts(late) == {
        "kmin_bytes_of_priority_3": 20_000, "kmax_bytes_of_priority_3": 1_000_000, "pmax_of_priority_3": 0.5,
        "kmin_bytes_of_priority_1": 60_000, "kmax_bytes_of_priority_1": 60_000, "pmax_of_priority_1": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "settings", "reason"),
    [
        (GROUPS, (), "priority 0 has groups with and without +pfc: give them different priorities"),
        (
            GROUPS,
            ("transports=[roce]", "traffic[1].priority=3"),
            "switches without +pfc",
        ),
        (
            BESIDE,
            ("traffic[1].priority=3",),
            "priority 3 has groups that ask for different markings: give them different priorities",
        ),
        (INCAST, ("transports=[roce+pfc]", "topology.buffer=unbounded"), "+pfc needs switches with a buffer"),
    ],
)
def test_contradicting_groups_are_refused(
    tmp_path: Path, text: str, settings: tuple[str, ...], reason: str
) -> None:
    found = unsupported_feature(cell_of(tmp_path, *settings, text=text))
    assert found is not None and found.startswith(reason)


LOSSY = """\
name: x
topology: {kind: star, hosts: 4, rate: 40Gbps, nic: ideal, buffer: 300KB}
workload: {kind: incast, senders: 3, size: 2MB, verb: read}
transports:
  - {name: irn, cap_packets: 111}
  - {name: irn-gbn, cap_packets: 111}
  - irn-nobdp
  - roce-lossy
  - resilient_roce
  - {name: irn+dcqcn, cap_packets: 111}
"""


def test_resent_bytes_of_an_incast_into_a_small_buffer(tmp_path: Path) -> None:
    """READs become WRITEs; all arrives; IRN repeats what was dropped and no more."""
    dropped, resent = [], []
    for index in range(6):
        result = simulated(tmp_path, text=LOSSY, index=index)
        flows = result.tables["flows"]
        assert set(flows["status"]) == {"ok"}
        assert set(flows["verb"]) == {"write"}
        counters = result.tables["counters"]
        named = zip(counters["name"], counters["after"], strict=True)
        dropped.append(sum(value for name, value in named if name == "drops"))
        resent.append(sum(flows["retransmitted_bytes"]))
    assert min(dropped) > 0
    packets = 1024
    for selective in (0, 2, 5):
        assert resent[selective] == pytest.approx(dropped[selective] * packets, rel=0.01)
    assert resent[1] > 2 * resent[0]


def test_input_queued_switch_has_a_buffer_for_each_link(tmp_path: Path) -> None:
    """A port alone settles at half of a shared buffer of 60 KB; here three senders' links have 60 KB each."""
    most = {}
    for switch in ("shared", "voq"):
        settings = (f"topology.switch={switch}", "topology.buffer=60KB", "transports=[irn-nobdp]")
        result = simulated(tmp_path, *settings, text=INCAST)
        most[switch] = max(result.tables["queues"]["max_bytes"])
    assert 25_000 < most["shared"] < 35_000
    assert 3 * 55_000 < most["voq"] <= 5 * 60_000


@pytest.mark.parametrize("name", NIC_CONTROLS)
def test_catalogue_and_engine_agree_on_needs_of_controls(name: str) -> None:
    assert NIC_CONTROLS[name].wants_telemetry == CONTROLS[name].wants_telemetry
    assert NIC_CONTROLS[name].wants_fair_rates == CONTROLS[name].wants_feedback


@pytest.mark.parametrize("name", BASES)
def test_engine_has_every_base_of_the_catalogue(name: str) -> None:
    transport = parse_transport(name)
    is_tcp = transport.service == "tcp"
    assert (name in RELIABILITIES and RELIABILITIES[name].controls_window) is is_tcp
    assert (BASES[name].packets is not None) is is_tcp
    if is_tcp:
        assert transport.recovery is None
    else:
        assert transport.agent in TRANSPORTS
        assert transport.recovery is None or transport.recovery in RELIABILITIES


@pytest.mark.parametrize(
    ("weights", "share"), [((1, 1), 1 / 2), ((1, 3), 3 / 4), ((1,), 1.0), ((0, 1), 0.0), ((5, 5), 1 / 2)]
)
def test_priorities_share_a_port_by_their_weights(
    tmp_path: Path, weights: tuple[int, ...], share: float
) -> None:
    """Without a weight a priority goes first; in the beginning the pipe fills."""
    stated = f"topology.weights={list(weights)}"
    cell = cell_of(tmp_path, stated, text=SHARED)
    assert unsupported_feature(cell) is None
    table = simulated(tmp_path, stated, text=SHARED).tables["throughput"]
    moved = {"a": 0, "b": 0}
    for flow, size in zip(table["flow_id"], table["delivered_bytes"], strict=True):
        moved[str(flow)[0]] += int(size)
    assert moved["b"] / sum(moved.values()) == pytest.approx(share, abs=0.01)
    assert feature_facts(cell) == {f"weight_of_priority_{n}": each for n, each in enumerate(weights) if each}


def test_without_weights_other_priorities_are_refused_by_name(tmp_path: Path) -> None:
    reason = unsupported_feature(cell_of(tmp_path, text=SHARED))
    assert reason is not None and "topology.weights have one traffic class: set priority to 0" in reason


SENDERS = ("h0", "h1", "h2")


def test_each_packet_has_its_flow(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path)
    assert set(table["flow_id"]) == {f"main/{host}->h3" for host in SENDERS}
    assert set(table["port"]) == {f"{host}->s0" for host in (*SENDERS, "h3")} | {
        f"s0->{host}" for host in (*SENDERS, "h3")
    }


def test_node_name_selects_its_links(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "measure=[{kind: packets, ports: [h3, h0->s0]}]")
    assert set(table["port"]) == {"h3->s0", "s0->h3", "h0->s0"}


def test_only_requested_flows_are_recorded(tmp_path: Path) -> None:
    table = packets_of_cell(tmp_path, "measure=[{kind: packets, flows: [main/h1->h3]}]")
    assert set(table["flow_id"]) == {"main/h1->h3"}


def test_datagrams_belong_to_the_flow_of_their_connection(tmp_path: Path) -> None:
    flow = build_network(cell_of(tmp_path, "transports=[rogue]", text=RECORDED)).flows[0]
    datagrams = [number for number in flow.all_qp_nums if number >= 1 << 23]
    assert len(datagrams) == 2
    assert len(flow.all_qp_nums) == 6  # main and shadow, both ends
    assert set(flow.qp_nums) < set(flow.all_qp_nums)


def test_unknown_flow_is_refused_by_name(tmp_path: Path) -> None:
    settings = "measure=[{kind: packets, flows: [nothing/x]}]"
    reason = SimulatorTestbed().unsupported(cell_of(tmp_path, settings, text=RECORDED))
    assert reason is not None
    assert "the flow nothing/x" in reason
    assert "there are main/h0->h3" in reason


def test_recording_idle_hosts_is_refused(tmp_path: Path) -> None:
    """Three hosts send to the last of six: h3 and h4 see no packet, unless a switch floods."""
    idle = ("topology.hosts=6", "measure=[{kind: packets, ports: [h3, s0->h4]}]")
    assert SimulatorTestbed().unsupported(cell_of(tmp_path, *idle, text=RECORDED)) == (
        "measure: packets of h3, s0->h4, where the cell sends none; name hosts with traffic: h0, h1, h2, h5"
    )
    flooded = "faults=[{kind: flooding, target: s0, destination: h5}]"
    assert SimulatorTestbed().unsupported(cell_of(tmp_path, *idle, flooded, text=RECORDED)) is None
    both = (idle[0], "measure=[{kind: packets, ports: [h5, h3]}]")
    assert SimulatorTestbed().unsupported(cell_of(tmp_path, *both, text=RECORDED)) is None


def test_missed_packets_are_a_fact(tmp_path: Path) -> None:
    few, all_missed = (
        simulated(tmp_path, f"measure=[{{kind: packets, packets_max: {most}}}]", text=RECORDED).facts.get(
            "packets_missed"
        )
        for most in (10, 100_000)
    )
    assert isinstance(few, int)
    assert all_missed is None


def test_recording_changes_nothing(tmp_path: Path) -> None:
    packets, pauses = (
        simulated(tmp_path, f"measure=[{measure}]", text=RECORDED).facts for measure in ("packets", "pauses")
    )
    assert packets["completions_digest"] == pauses["completions_digest"]


@pytest.mark.parametrize("port", ["h0->h1", "s9", "h0->s1"])
def test_unknown_port_is_an_error(port: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"the port {port}"):
        cell_of(tmp_path, f"measure=[{{kind: packets, ports: [{port}]}}]", text=RECORDED)
