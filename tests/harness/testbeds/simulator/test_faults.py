"""Faults in the simulator."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of, simulated

from rogue.harness.testbeds.base import TestbedError
from rogue.harness.testbeds.simulator.network import unsupported_fault

CUT = "faults=[{kind: link_cut, at: 1ms, target: h1, duration: 2ms}]"
LOSS = "faults=[{kind: loss, target: s0-h1, %s}]"


RING = "topology={kind: ring, rate: 1Gbps}"
REROUTED = "{kind: link_cut, target: s0-s1, at: 1ms, duration: 2ms, reroute_after: 1us}"


@pytest.mark.parametrize(
    ("transports", "faults", "reason"),
    [
        ("[roce+dcqcn, irn]", REROUTED, None),
        ("[roce+rocc]", REROUTED, "reroute_after changes the paths of rocc, whose switches send"),
        ("[irn, irn+hpcc]", REROUTED, "reroute_after changes the paths of hpcc, which compares"),
        ("[irn+powertcp]", REROUTED, "reroute_after changes the paths of powertcp, which compares"),
        ("[roce+rocc]", REROUTED.replace(", reroute_after: 1us", ""), None),
        (
            "[roce]",
            f"{REROUTED}, {{kind: misrouting, target: s0-s4, destination: h3}}",
            "switches that do not forward on shortest paths cannot reroute",
        ),
    ],
)
def test_rerouting_is_refused_for_controls_bound_to_a_path(
    tmp_path: Path, transports: str, faults: str, reason: str | None
) -> None:
    settings = (RING, f"transports={transports}", f"faults=[{faults}]", "workload.senders=2")
    cells = [cell_of(tmp_path, *settings, index=index) for index in range(transports.count(",") + 1)]
    assert (unsupported_fault(cells[-1]) or "None").startswith(str(reason))


def test_two_losses_of_one_link_are_refused(tmp_path: Path) -> None:
    reason = unsupported_fault(cell_of(tmp_path, LOSS % "one_in: 8}, {kind: loss, target: h1, one_in: 2"))
    assert reason == "each of the simulator's links has one loss model: take a loss away"


def test_lost_packets_are_sent_again(tmp_path: Path) -> None:
    flows = simulated(tmp_path, LOSS % "one_in: 100", "transports=[roce]").tables["flows"]
    retransmitted = dict(zip(flows["src"], flows["retransmitted_bytes"], strict=True))
    assert retransmitted["h0"] == 0
    assert retransmitted["h1"] >= 1024


def test_a_cut_stops_a_sender_until_its_timer_notices(tmp_path: Path) -> None:
    """The link is down from 1 ms to 3 ms; the NIC sends again 4.19 ms after the last acknowledgement."""
    settings = (
        CUT.replace("h1", "h0"), "transports=[{name: roce, timeout_exponent: 10}]", "workload.senders=1",
        "workload.repeat_for=12ms", "measure=[{kind: throughput, interval: 500us}]",
    )  # fmt: skip
    table = simulated(tmp_path, *settings).tables["throughput"]
    delivered = dict(zip(table["t_ns"], table["delivered_bytes"], strict=True))
    silent = [t_ns for t_ns, size_bytes in delivered.items() if size_bytes == 0]
    assert silent == list(range(2_000_000, 5_000_001, 500_000))
    assert delivered[12_000_000] > 500_000


def test_failed_links_lose_packets_until_rerouting(tmp_path: Path) -> None:
    """Of the ports of switches only theirs lose any; a host's timer is 67 ms, and all transfers are done."""
    settings = (
        "topology={kind: fat_tree, k: 4, rate: 10Gbps}", "transports=[irn]", "probe=null",
        "workload={kind: permutation, size: 1MB}", "time_limit=100ms",
        "faults=[{kind: link_failures, links: 4, at: 100us, duration: 50ms, reroute_after: 50us}]",
    )  # fmt: skip
    cell = cell_of(tmp_path, *settings)
    tables = simulated(tmp_path, *settings).tables
    rows = zip(*(tables["counters"][column] for column in ("port", "name", "after")), strict=True)
    lost = {port for port, name, value in rows if name == "lost_packets" and value}
    failed = {port for outage in cell.network.outages for port in outage.ports}
    assert lost
    assert lost <= failed
    events = list(tables["events"]["event"])
    assert (events.count("link_cut"), events.count("rerouted"), events.count("link_restored")) == (4, 4, 0)
    assert set(tables["flows"]["status"]) == {"ok"}


STORM = "faults=[{kind: pause_storm, target: h3, at: 1ms, duration: 9ms, nic_watchdog: %s}]"
SLOW = "faults=[{kind: slow_receiver, target: h3, rate: 2Gbps, at: 1ms, duration: 4ms}]"
PAUSED = (
    "transports=[roce+pfc]",
    "workload.repeat_for=10ms",
    "measure=[{kind: throughput, interval: 1ms}, pauses]",
)


def test_pause_storm_lasts_until_the_nic_watchdog(tmp_path: Path) -> None:
    """h3 receives; its switch stands still from 1 ms on, for 2 ms or to the end."""
    paused_ns = []
    for watchdog in ("2ms", "9ms"):
        pauses = simulated(tmp_path, STORM % watchdog, *PAUSED).tables["pauses"]
        rows = zip(pauses["port"], pauses["duration_ns"], strict=True)
        paused_ns.append(max(duration_ns for port, duration_ns in rows if port == "s0->h3"))
    assert paused_ns == pytest.approx([2_000_000, 9_000_000], rel=0.01)


def test_slow_receiver_gets_its_rate_while_slow(tmp_path: Path) -> None:
    table = simulated(tmp_path, SLOW, *PAUSED).tables["throughput"]
    delivered: dict[int, int] = {}
    for t_ns, size_bytes in zip(table["t_ns"], table["delivered_bytes"], strict=True):
        delivered[t_ns] = delivered.get(t_ns, 0) + size_bytes
    slow, fast = (delivered[t_ms * 10**6] for t_ms in (4, 9))
    assert slow * 8e-6 == pytest.approx(2 * 1024 / 1086, rel=0.05)  # Gb/s
    assert fast > 4 * slow


def test_pause_faults_need_pfc_and_exclude_each_other(tmp_path: Path) -> None:
    reason = unsupported_fault(cell_of(tmp_path, STORM % "1ms", "transports=[roce]"))
    assert reason == "h3 pauses its switch, which obeys only with +pfc; add it, or take the fault away"
    both = SLOW.replace("]", ", {kind: pause_storm, target: h3, at: 1ms, duration: 1ms}]")
    reason = unsupported_fault(cell_of(tmp_path, both, "transports=[roce+pfc]"))
    assert reason == "the simulator's NICs pause their switch for one reason each; take a fault away"


def test_routing_loop_is_refused_unless_packets_expire(tmp_path: Path) -> None:
    ring = (
        "topology={kind: ring, rate: 10Gbps, nic: ideal}",
        "workload={kind: permutation, shift: 1, size: 100KB, repeat_for: 1ms}",
        "transports=[roce]",
        "faults=[{kind: misrouting, target: s1-s0, destination: h1}]",
    )
    with pytest.raises(TestbedError, match="packets from 'h0' to 'h1' go in a loop: s0, s1, s0"):
        simulated(tmp_path, *ring)
    counters = simulated(tmp_path, *ring, "topology.ttl_hops=16").tables["counters"]
    rows = zip(counters["name"], counters["after"], strict=True)
    assert sum(after for name, after in rows if name == "expired_packets") > 50


def test_flooding_switch_sends_stray_packets(tmp_path: Path) -> None:
    settings = ("transports=[roce]", "faults=[{kind: flooding, target: s0, destination: h2}]")
    counters = simulated(tmp_path, *settings, "workload.repeat_for=1ms").tables["counters"]
    rows = zip(counters["port"], counters["name"], counters["after"], strict=True)
    strays = {port for port, name, after in rows if name == "stray_packets" and after > 0}
    assert "s0->h2" in strays
    assert len(strays) > 1


EVENTS = """faults=[
  {kind: packet_event, flow: main/h0->h3, psn: 4, do: drop},
  {kind: packet_event, flow: main/h0->h3, packet: ack, psn: 63, transmission: 2, do: delay, amount: 20us},
  {kind: packet_event, flow: main/h1->h3, packet: cnp, do: drop}]"""


def test_packet_events_are_in_the_tables_and_an_unmet_one_is_a_fact(tmp_path: Path) -> None:
    settings = (EVENTS, "transports=[roce]", "workload.senders=2", "measure=[packets]")
    result = simulated(tmp_path, *settings)
    events = result.tables["events"]
    rows = zip(*(events[name] for name in ("flow_id", "event", "detail")), strict=True)
    assert list(rows) == [("main/h0->h3", "packet_event", "drop: data 4, transmission 1")]
    assert result.facts["packet_events_unmet"] == 2
    packets = result.tables["packets"]
    lost = [n for n, reason in enumerate(packets["reason"]) if reason == "event"]
    assert [(packets["port"][n], packets["psn"][n]) for n in lost] == [("h0->s0", 4)]
    assert sum(packets["kind"] == "nak") > 0


@pytest.mark.parametrize(
    ("transport", "flow", "reason"),
    [
        ("roce", "main/h0->h9", "packet_event: the cell has no flow main/h0->h9; write main/h0->h3 if that"),
        ("dctcp", "main/h0->h3", "packet_event: main/h0->h3 is over TCP, which numbers bytes: choose a flow"),
    ],
)
def test_packet_events_of_no_flow_or_of_tcp_are_refused(
    tmp_path: Path, transport: str, flow: str, reason: str
) -> None:
    fault = f"faults=[{{kind: packet_event, flow: {flow}, psn: 4, do: drop}}]"
    told = unsupported_fault(cell_of(tmp_path, fault, f"transports=[{transport}]", "workload.senders=2"))
    assert str(told).startswith(reason)
