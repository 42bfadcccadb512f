"""Test cells: groups, flows, faults and what they record."""

import gc
import pickle
from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import bottleneck_facts, cell_facts, expected_bytes, fault_events
from rogue.harness.cell.demand import carried_verbs, gc_paused
from rogue.workloads.transports import parse_transport

GROUP = "traffic=[{name: bulk, workload: {kind: incast, senders: 2, size: 1MB, verb: read}}]"


def test_transport_without_read_uses_write(tmp_path: Path) -> None:
    assert dict(carried_verbs(parse_transport("rogue"))) == {"write": "write", "read": "read", "send": "send"}
    assert dict(carried_verbs(parse_transport("dctcp"))) == {
        "write": "write",
        "read": "write",
        "send": "write",
    }
    (group,) = cell_of(tmp_path, "workload=null", GROUP, "transports=[rogue-uc]").groups
    assert [flow.verb for flow in group.flows] == ["write", "write"]
    assert group.demand.replaced == (("read", "write"),)


def test_transports_that_carry_the_same_verbs_share_the_flows(tmp_path: Path) -> None:
    """A hundred thousand of them take seconds, for each of the cells that a plan has."""
    irn, lossy, rogue = (
        cell_of(tmp_path, "workload=null", GROUP, f"transports=[{name}]").groups[0].flows
        for name in ("irn", "roce-lossy", "rogue")
    )
    assert irn is lossy
    assert irn is not rogue


def test_gc_paused_restores_the_collector() -> None:
    with gc_paused():
        assert not gc.isenabled()
        with gc_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


CARRIER_GROUP = (
    "{name: own, workload: {kind: incast, senders: 2, size: 1MB}, transport: roce, parameters: {window: 1}}"
)


def test_own_parameters_of_a_group(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: rogue, segment: 16KiB}]")
    assert not cell.groups[0].states("segment")
    (own,) = cell_of(tmp_path, "workload=null", f"traffic=[{CARRIER_GROUP}]").groups
    assert own.states("window")
    assert own.states("segment"), "whatever is wrong with its transport is its own mistake"


def test_probe_is_marked_in_its_flow(tmp_path: Path) -> None:
    """Whatever a group may be called."""
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{CARRIER_GROUP.replace('own', 'probe')}]")
    assert cell.probe is not None
    assert cell.probe.is_probe
    assert (cell.probe.flow_id, cell.probe.carrier.label) == ("probe/h2->h3", "roce")
    assert cell.groups[0].name == cell.probe.carrier.name


GROUPS = """\
name: x
topology: {kind: star, hosts: 4, rate: 10Gbps}
traffic:
  - {name: bulk, workload: {kind: incast, senders: 2, size: 1MB, verb: read}, parameters: {alpha_packets: 1}}
  - {name: rival, workload: {kind: incast, senders: 1, size: 1MB, verb: read}, transport: dctcp, priority: 3}
transports: [{name: rogue, label: ours, segment: 16KiB}, rogue-uc]
"""
MANY = "workload={kind: many_pairs, hosts: 3, load: 0.9, arrive_for: 10ms}"


def test_groups_have_the_cells_transport_or_their_own(tmp_path: Path) -> None:
    bulk, rival = cell_of(tmp_path, text=GROUPS).groups
    assert (str(bulk.transport), bulk.label, bulk.priority) == ("rogue", "ours", 0)
    assert bulk.parameters == {"segment": "16KiB", "alpha_packets": 1}
    assert (str(rival.transport), rival.label, rival.priority) == ("dctcp", "dctcp", 3)
    assert rival.parameters == {}


def test_replaced_verbs_are_listed(tmp_path: Path) -> None:
    rogue, rogue_uc = (cell_of(tmp_path, text=GROUPS, index=index) for index in (0, 1))
    assert rogue.replaced_verbs == "dctcp has no read: write in the same direction of data"
    assert rogue_uc.replaced_verbs == (
        "dctcp has no read: write in the same direction of data; "
        "rogue-uc has no read: write in the same direction of data"
    )
    assert cell_of(tmp_path).replaced_verbs is None


def test_idle_group_is_named(tmp_path: Path) -> None:
    late = "workload={kind: many_pairs, hosts: 3, load: 0.5, arrive_for: 1ns}"
    found = "nothing happens in main: its first transfer would come after its end; let it run longer"
    assert cell_of(tmp_path, late).idleness == found
    assert cell_of(tmp_path).idleness is None


def test_program_without_messages_is_idle(tmp_path: Path) -> None:
    """Running longer would not help."""
    (tmp_path / "calc.goal").write_text("num_ranks 2\nrank 0 {\nl1: calc 100\n}\nrank 1 {\nl1: calc 100\n}\n")
    idle = cell_of(tmp_path, "workload={kind: goal, file: calc.goal}").idleness
    assert idle == "main has no transfer that could be measured; add one"


@pytest.mark.parametrize("idle", [("a",), ("b",), ("b", "c")])
def test_first_idle_group_is_named(tmp_path: Path, idle: tuple[str, ...]) -> None:
    pairs = "workload: {kind: many_pairs, hosts: 3, load: 0.9, arrive_for: "
    groups = ", ".join(f"{{name: {name}, {pairs}{'1ns' if name in idle else '10ms'}}}}}" for name in "abc")
    cell = cell_of(tmp_path, "workload=null", f"traffic=[{groups}]")
    assert [group.name for group in cell.groups if not group.flows] == list(idle)
    assert (cell.idleness or "").startswith(f"nothing happens in {idle[0]}: ")


def test_receivers(tmp_path: Path) -> None:
    assert cell_of(tmp_path).receivers == {"h3": 2}
    assert set(cell_of(tmp_path, MANY).receivers) == {"h0", "h1", "h3"}
    assert cell_of(tmp_path).busiest_receiver == "h3"


def test_probe_has_its_own_host_and_the_first_groups_priority(tmp_path: Path) -> None:
    traffic = "traffic=[{name: a, workload: {kind: incast, senders: 1, size: 1MB}, priority: 3}]"
    probe = cell_of(tmp_path, "workload=null", traffic).probe
    assert probe is not None
    assert (probe.flow.source, probe.flow.destination, probe.carrier.priority) == ("h2", "h3", 3)
    assert cell_of(tmp_path, "probe=null").probe is None


def test_derived_values_are_cached_and_not_pickled(tmp_path: Path) -> None:
    cell = cell_of(tmp_path)
    assert cell.groups is cell.groups
    assert cell.timing is cell.timing
    assert pickle.loads(pickle.dumps(cell)) == cell


POISSON = "workload={kind: poisson, load: 0.5, size: 20KB, arrive_for: 30ms, ignore_for: 4ms}"


def test_facts_of_warm_up_and_bottleneck(tmp_path: Path) -> None:
    facts = cell_facts(cell_of(tmp_path, POISSON))
    assert (facts["warm_up_ns"], facts["arriving_ns"]) == (4_000_000, 30_000_000)
    assert (facts["framing"], facts["mtu_bytes"], facts["replaced_verbs"]) == ("rocev2", 1024, None)
    lasting = cell_facts(cell_of(tmp_path))
    assert (lasting["bottleneck_port"], lasting["arriving_ns"]) == ("s0->h3", None)


def test_facts_of_a_collective(tmp_path: Path) -> None:
    """3 MB over 3 ranks: 2 * 2/3 of them in an all-reduce; of two collectives there is no one number."""
    ring = "{kind: collective, operation: all_reduce, hosts: 3, size: 3MB}"
    facts = cell_facts(cell_of(tmp_path, f"workload={ring}"))
    assert (facts["bus_bytes"], facts["rank_goodput_bps"]) == (4_000_000, 10e9 * 1024 / 1106)
    facts = cell_facts(cell_of(tmp_path))
    assert (facts["bus_bytes"], facts["rank_goodput_bps"]) == (None, None)
    two = f"""\
name: x
topology: {{kind: star, hosts: 4, rate: 10Gbps}}
traffic: [{{name: a, workload: {ring}}}, {{name: b, workload: {ring}}}]
transports: [roce]
"""
    assert cell_facts(cell_of(tmp_path, text=two))["bus_bytes"] is None


def test_fact_repeats(tmp_path: Path) -> None:
    assert cell_facts(cell_of(tmp_path, "workload.repeat_for=10ms"))["repeats"] is True
    assert cell_facts(cell_of(tmp_path))["repeats"] is False
    assert cell_facts(cell_of(tmp_path, POISSON))["repeats"] is False


def test_burst_has_no_arrival_time(tmp_path: Path) -> None:
    """Both transfers of a trace start within a microsecond and drain: their queue is the whole traffic's."""
    rows = "start_us,src,dst,size_bytes\n0,h0,h3,10000000\n1,h1,h3,10000000\n"
    (tmp_path / "burst.csv").write_text(rows)
    for drain in ("", ", drain_for: 20ms"):
        trace = f"workload={{kind: trace, file: burst.csv{drain}}}"
        assert cell_facts(cell_of(tmp_path, trace))["arriving_ns"] is None
    (tmp_path / "burst.csv").write_text(f"{rows}5000,h0,h3,1000\n")
    longer = "workload={kind: trace, file: burst.csv, drain_for: 20ms}"
    assert cell_facts(cell_of(tmp_path, longer))["arriving_ns"] == 5_000_001


@pytest.mark.parametrize(
    ("topology", "port", "rate_bps"),
    [
        ("kind: star, hosts: 4", "s0->h3", 10e9),
        ("kind: dumbbell, hosts_per_side: 4, bottleneck_rate: 4Gbps", "s0->s1", 4e9),
        ("kind: parking_lot", "s2->h5", 10e9),
        ("kind: two_tier, hosts_per_rack: 2, uplink_rate: 1Gbps", "s1->h3", 10e9),
        ("kind: multi_plane, leaves: 1, spines: 0", "s3->h3", 10e9),
    ],
)
def test_the_slowest_port_that_all_flows_share(
    tmp_path: Path, topology: str, port: str, rate_bps: float
) -> None:
    senders = 4 if "parking_lot" in topology else 2
    cell = cell_of(tmp_path, f"topology={{{topology}, rate: 10Gbps}}", f"workload.senders={senders}")
    facts = {"bottleneck_port": port, "ideal_goodput_bps": rate_bps * 1024 / 1106}
    assert bottleneck_facts(cell) == facts


CUT = "faults=[{kind: link_cut, at: 1ms, target: h1, duration: 2ms}]"
LOSS = "faults=[{kind: loss, target: s0-h1, %s}]"


def test_events_of_links(tmp_path: Path) -> None:
    assert fault_events(cell_of(tmp_path, CUT), 10**9) == [
        ("", 1_000_000, "link_cut", "h1"),
        ("", 3_000_000, "link_restored", "h1"),
    ]
    assert [row[2] for row in fault_events(cell_of(tmp_path, CUT), 2_000_000)] == ["link_cut"]
    losses = cell_of(tmp_path, LOSS % "one_in: 8, from: 1ms, until: 2ms")
    assert fault_events(losses, 10**9) == [
        ("", 1_000_000, "loss_begins", "s0-h1"),
        ("", 2_000_000, "loss_ends", "s0-h1"),
    ]
    assert fault_events(cell_of(tmp_path, LOSS % "one_in: 0"), 10**9) == []


def test_events_of_random_link_failures_depend_on_the_seed(tmp_path: Path) -> None:
    """The seed decides: two repetitions have other links."""
    tree = "topology={kind: fat_tree, k: 4, rate: 10Gbps}"
    failures = "faults=[{kind: link_failures, links: 3, at: 1ms, duration: 2ms, reroute_after: 1us}]"
    twice = ("transports=[roce]", "repetitions=2")
    found = [fault_events(cell_of(tmp_path, tree, failures, *twice, index=index), 10**9) for index in (0, 1)]
    assert [[event for _, _, event, _ in rows].count("rerouted") for rows in found] == [3, 3]
    links = [{target for *_, target in rows} for rows in found]
    assert len(links[0]) == 3
    assert links[0] != links[1]


def test_events_of_hosts_and_switches(tmp_path: Path) -> None:
    def events(fault: str) -> list[tuple[int, str, str]]:
        cell = cell_of(tmp_path, f"faults=[{{{fault}}}]")
        return [(t_ns, event, target) for _, t_ns, event, target in fault_events(cell, 10**9)]

    assert events("kind: pause_storm, target: h1, at: 1ms, duration: 2ms") == [
        (1_000_000, "pause_storm_begins", "h1"),
        (3_000_000, "pause_storm_ends", "h1"),
    ]
    assert events("kind: slow_receiver, target: h1, rate: 1Gbps") == [(0, "slow_receiver_begins", "h1")]
    assert events("kind: slow_receiver, target: h1, rate: 1Gbps, at: 1us, duration: 2us") == [
        (1_000, "slow_receiver_begins", "h1"),
        (3_000, "slow_receiver_ends", "h1"),
    ]
    assert events("kind: flooding, target: s0, destination: h1") == [(0, "flooding", "s0")]
    assert events("kind: misrouting, target: s0-h1, destination: h1") == [(0, "misrouting", "s0-h1")]


def test_greedy_flows_fill_their_receiver(tmp_path: Path) -> None:
    """10 Gb/s for 1 s are 1.25 GB: 1250 transfers of 1 MB, and 19 073.5 segments of 64 KiB.

    Ten thousand probes; two flows each 10 ms; four ports each millisecond.
    """
    cell = cell_of(tmp_path, "workload.repeat_for=1s")
    rows = 1250 * 100 + 19073.486 * 20 + 10_000 * 10 + 100 * 2 * 25 + 1000 * 4 * 2
    assert expected_bytes(cell) == pytest.approx(20_000 + rows)


@pytest.mark.parametrize(("interval", "rows"), [("10ms", 2e6 / 65536), ("100us", 2 * 1_717_184 / 1e5)])
def test_control_rows_follow_segments_or_intervals(tmp_path: Path, interval: str, rows: float) -> None:
    """Two flows of 1 MB last 1.7 ms: 31 segments, or 17 intervals of each flow."""
    measure = f"measure=[control, {{kind: throughput, interval: {interval}}}]"
    cell = cell_of(tmp_path, "probe=null", measure)
    intervals = 2 * cell.timing.traffic_ns / cell.timing.throughput_interval_ns
    expected = 20_000 + 2 * 100 + rows * 40 + intervals * 25
    assert expected_bytes(cell) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("packets_max", "rows"), [(50_000, 2 * 2 * 2e6 / 1024), (500, 500)])
def test_packet_rows_count_links_and_acknowledgements(tmp_path: Path, packets_max: int, rows: float) -> None:
    measure = f"measure=[rtt, {{kind: packets, packets_max: {packets_max}}}]"
    cell = cell_of(tmp_path, "probe=null", measure)
    assert expected_bytes(cell) == pytest.approx(20_000 + 2 * 100 + 2e6 / 65536 * 20 + rows * 10)
