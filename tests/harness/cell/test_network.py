"""Test what a cell requires of links, faults, priorities and marks."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of, group_in

from rogue.harness.cell.cell import fault_events
from rogue.harness.cell.marking import DCQCN_CURVE, MarkingCurve
from rogue.harness.cell.network import OutageSpec, Pauses, PrioritySpec, SwitchPort, faults_struck
from rogue.harness.cell.transport import ParameterError
from rogue.harness.experiment.choices import Scalar
from rogue.workloads.faults import LinkCut
from rogue.workloads.topologies import Link

DUMBBELL = "topology={kind: dumbbell, hosts_per_side: 2, rate: 10Gbps, bottleneck_rate: 1Gbps, delay: 3us}"
LATER = "{kind: link_cut, target: s0-s1, at: 2ms, duration: 1ms}"
SOONER = "{kind: link_cut, target: h1, at: 1ms, duration: 5ms}"


def test_links_keep_their_rates_and_delays(tmp_path: Path) -> None:
    network = cell_of(tmp_path, DUMBBELL).network
    links = network.links
    assert [(link.a, link.b, link.rate_bps) for link in links if "s1" in (link.a, link.b)] == [
        ("h2", "s1", 10**10), ("h3", "s1", 10**10), ("s0", "s1", 10**9),
    ]  # fmt: skip
    assert {link.delay_ns for link in links} == {3_000}
    assert (network.delay_spread_ns, network.losses) == (5, {})
    assert links[0].ports == (f"{links[0].a}->{links[0].b}", f"{links[0].b}->{links[0].a}")


def test_losses_are_grouped_by_link(tmp_path: Path) -> None:
    """Also those of nothing: who asks for them asks for a network that may lose packets."""
    losses = "faults=[{kind: loss, target: s0-s1, one_in: 8}, {kind: loss, target: h2, probability: 0}]"
    by_link = cell_of(tmp_path, DUMBBELL, losses).network.losses
    lossy = {link.ports: [loss.mean_probability for loss in found] for link, found in by_link.items()}
    assert lossy == {("s0->s1", "s1->s0"): [0.125], ("h2->s1", "s1->h2"): [0.0]}


def test_outages_are_as_written_without_other_faults(tmp_path: Path) -> None:
    flooding = "{kind: flooding, target: s0, destination: h1}"
    network = cell_of(tmp_path, DUMBBELL, f"faults=[{flooding}, {LATER}, {SOONER}]").network
    assert network.outages == (
        OutageSpec("s0", "s1", 2_000_000, 1_000_000),
        OutageSpec("h1", "s0", 1_000_000, 5_000_000),
    )
    later = LATER.replace("duration", "reroute_after: 10us, duration")
    assert cell_of(tmp_path, DUMBBELL, f"faults=[{later}]").network.outages == (
        OutageSpec("s0", "s1", 2_000_000, 1_000_000, 10_000),
    )
    assert network.outages[0].ports == ("s0->s1", "s1->s0")
    assert [fault.target for fault in network.breakages] == ["s0"]


def test_one_way_outage_starts_at_the_first_node(tmp_path: Path) -> None:
    found = [
        cell_of(tmp_path, DUMBBELL, f"faults=[{LATER.replace('s0-s1', target + ', one_way: true')}]")
        for target in ("s1-s0", "s0-s1", "h2")
    ]
    assert [cell.network.outages[0].ports for cell in found] == [("s1->s0",), ("s0->s1",), ("h2->s1",)]


GROUPS = """\
name: x
topology: {kind: star, hosts: 5, rate: 10Gbps, buffer: 2MB}
traffic:
  - {name: rdma, priority: 3, workload: {kind: incast, senders: 2, size: 2MB}}
  - {name: tcp, priority: 1, transport: dctcp, workload: {kind: incast, senders: 2, size: 2MB}}
transports: [roce+pfc+dcqcn]
"""
STEP = MarkingCurve(98_670, 98_670, pmax=1.0, at="arrival")
"""K: 65 frames of 1518 bytes at 10 Gb/s."""


def test_every_egress_of_a_switch_is_a_port(tmp_path: Path) -> None:
    asked = "topology={kind: dumbbell, hosts_per_side: 2, rate: 10Gbps, bottleneck_rate: 1Gbps, buffer: 1MB}"
    network = cell_of(tmp_path, asked, "topology.alpha=2.0", "topology.delay=3us").network
    ports, (switch, _) = network.ports, network.switches
    assert sorted(ports) == ["s0->h0", "s0->h1", "s0->s1", "s1->h2", "s1->h3", "s1->s0"]
    assert (switch.buffer_bytes, switch.alpha) == (1_000_000, 2.0)
    assert ports["s0->h0"] == SwitchPort(switch, Link("h0", "s0", 10_000_000_000, 3_000))
    assert ports["s0->s1"] == SwitchPort(switch, Link("s0", "s1", 1_000_000_000, 3_000))


def test_priority_combines_the_requests_of_its_groups(tmp_path: Path) -> None:
    network = cell_of(tmp_path, "topology.pause_xoff=100KB", text=GROUPS).network
    pauses = Pauses(1 / 16, 100_000, None, None, 200_000_000)
    assert network.priorities == {
        3: PrioritySpec((DCQCN_CURVE,), pauses, False),
        1: PrioritySpec((STEP,), None, False),
    }
    assert network.curves == {3: DCQCN_CURVE, 1: STEP}
    assert network.pausing == {3: pauses}
    assert network.contradiction is None


def test_weights_exist_for_used_priorities(tmp_path: Path) -> None:
    network = cell_of(tmp_path, "topology.weights=[7, 2, 5]", text=GROUPS).network
    assert network.weights == {1: 2}, "0 and 2 are empty, and 3 goes first"
    assert cell_of(tmp_path, text=GROUPS).network.weights == {}


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("traffic[1].transport=roce+dcqcn", "priority 3 has groups with and without +pfc: "),
        ("transports=[roce+dcqcn]", "priority 3 has groups that ask for different markings: "),
    ],
)
def test_conflicting_groups_of_one_priority_are_refused(tmp_path: Path, setting: str, reason: str) -> None:
    network = cell_of(tmp_path, "traffic[1].priority=3", setting, text=GROUPS).network
    assert network.contradiction == f"{reason}give them different priorities"


@pytest.mark.parametrize(
    ("settings", "ip_packet_bytes"),
    [
        (("transports=[roce]",), 1084),
        (("transports=[roce]", "topology.mtu=4096"), 4156),
        (("transports=[dctcp]",), 1500),
    ],
)
def test_largest_ip_packet_of_each_transport(
    tmp_path: Path, settings: tuple[str, ...], ip_packet_bytes: int
) -> None:
    """RoCEv2: IPv4 20, UDP 8, BTH 12, RETH 16, ICRC 4. TCP: segments of 1460 and 40 of headers."""
    assert cell_of(tmp_path, *settings).network.ip_packet_bytes == ip_packet_bytes


def test_impossible_parameter_is_an_error(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, "transports=[{name: dctcp, mark_above: -1}]")
    with pytest.raises(ParameterError):
        _ = cell.network


TREE = "topology={kind: fat_tree, k: 4, rate: 10Gbps}"
OF_AN_EDGE = "{kind: link_failures, target: s0, links: 1, at: 1ms, duration: 2ms}"
UPLINKS = {"s0-s8", "s0-s9"}


def struck(directory: Path, faults: str, seed: int) -> list[str]:
    cell = cell_of(directory, TREE, f"faults=[{faults}]", f"seed={seed}")
    assert faults_struck(cell.experiment, cell.seed) == cell.faults
    return [fault.target for fault in cell.faults]


@pytest.mark.parametrize("seed", range(8))
def test_later_faults_spare_cut_links(tmp_path: Path, seed: int) -> None:
    """The second one finds no other uplink of s0 that may go, and no link is cut twice before all are."""
    assert set(struck(tmp_path, f"{OF_AN_EDGE}, {OF_AN_EDGE}", seed)) == UPLINKS
    of_all = OF_AN_EDGE.replace("target: s0, links: 1", "links: 4")
    targets = struck(tmp_path, f"{{kind: link_cut, target: s0-s8, at: 1ms, duration: 1ms}}, {of_all}", seed)
    assert targets[0] == "s0-s8"
    assert not UPLINKS & set(targets[1:])


def outages(directory: Path, *cuts: str) -> list[tuple[str, int, int]]:
    """Of a link between switches unless a cut says another: target, begin and end in microseconds."""
    written = ", ".join(
        f"{{kind: link_cut, {'' if 'target' in cut else 'target: s0-s8, '}{cut}}}" for cut in cuts
    )
    faults = [
        fault
        for fault in cell_of(directory, TREE, f"faults=[{written}]").faults
        if isinstance(fault, LinkCut)
    ]
    return [(each.target, each.at_ns // 1_000, (each.at_ns + each.duration_ns) // 1_000) for each in faults]


def test_overlapping_outages_are_joined(tmp_path: Path) -> None:
    """In any order, and also where one ends within another; the first that was written gives its place."""
    first, second = "at: 100us, duration: 100us", "at: 200us, duration: 100us"
    assert outages(tmp_path, first, second) == [("s0-s8", 100, 300)]
    other, within = "target: s0-s9, at: 5us, duration: 1us", "target: s8-s0, at: 210us, duration: 10us"
    assert outages(tmp_path, second, other, first, within) == [("s0-s8", 100, 300), ("s0-s9", 5, 6)]


def test_different_outages_stay_separate(tmp_path: Path) -> None:
    """By a gap, by when switches know of them, or by their direction."""
    first, second = "at: 100us, duration: 100us", "at: 200us, duration: 100us"
    apart = [("s0-s8", 100, 200), ("s0-s8", 200, 300)]
    assert outages(tmp_path, first, "at: 201us, duration: 99us") == [("s0-s8", 100, 200), ("s0-s8", 201, 300)]
    assert outages(tmp_path, first, f"{second}, reroute_after: 150us") == apart
    assert outages(tmp_path, f"{first}, one_way: true", second) == apart
    back = f"target: s8-s0, {second}, one_way: true"
    assert outages(tmp_path, f"{first}, one_way: true", back) == [apart[0], ("s8-s0", 200, 300)]


def test_joined_outage_is_long_enough_to_reroute(tmp_path: Path) -> None:
    """Each is shorter than what they need, both are not."""
    knowing = "reroute_after: 150us"
    cuts = (f"at: {at_us}us, duration: 100us, {knowing}" for at_us in (100, 200))
    written = ", ".join(f"{{kind: link_cut, target: s0-s8, {cut}}}" for cut in cuts)
    cell = cell_of(tmp_path, TREE, f"faults=[{written}]")
    (outage,) = cell.network.outages
    assert (outage.at_ns, outage.duration_ns, outage.reroute_after_ns) == (100_000, 200_000, 150_000)
    assert [(t_ns // 1_000, event) for _, t_ns, event, _ in fault_events(cell, 10**9)] == [
        (100, "link_cut"), (300, "link_restored"), (250, "rerouted"), (450, "routed_back"),
    ]  # fmt: skip


def test_experiment_without_faults_has_none(tmp_path: Path) -> None:
    assert cell_of(tmp_path, "faults=[]").faults == ()


def curve_of(directory: Path, transport: str, *settings: str, **parameters: Scalar) -> MarkingCurve | None:
    return group_in(cell_of(directory, *settings), transport, parameters).settings.marking


@pytest.mark.parametrize(("rate", "frames"), [("1Gbps", 20), ("10Gbps", 65), ("40Gbps", 260)])
def test_k_grows_with_the_line_rate(tmp_path: Path, rate: str, frames: int) -> None:
    """65 frames of 1518 bytes at 10 Gb/s, and never fewer than 20."""
    curve = curve_of(tmp_path, "dctcp", f"topology.rate={rate}")
    assert curve is not None and curve.kmin_bytes == frames * 1518


@pytest.mark.parametrize("value", [True, "long", -1, "-1B", "2TB"])
def test_impossible_marking_threshold_is_an_error(tmp_path: Path, value: Scalar) -> None:
    with pytest.raises(ParameterError) as caught:
        curve_of(tmp_path, "dctcp", mark_above=value)
    assert caught.value.mistake.key == "mark_above"


@pytest.mark.parametrize("transport", ["roce+dcqcn", "irn+pfc+dcqcn", "resilient_roce"])
def test_controls_that_react_to_marks_have_the_dcqcn_curve(tmp_path: Path, transport: str) -> None:
    """Table 1 of "ECN or delay": 5 KB, 200 KB and 1 %."""
    curve = curve_of(tmp_path, transport)
    assert curve == DCQCN_CURVE == MarkingCurve(5_000, 200_000, 0.01)
    assert str(curve) == "marks from 5000 to 200000 bytes, then with 0.01"


def test_curve_can_be_requested(tmp_path: Path) -> None:
    asked: dict[str, Scalar] = {"kmin": "20KB", "kmax": "1MB", "pmax": 0.5, "drops_instead": 1}
    found = curve_of(tmp_path, "roce+dcqcn", average_weight=0.002, **asked)
    assert found == MarkingCurve(20_000, 1_000_000, 0.5, average_weight=0.002, drops_instead=True)


def test_k_is_a_step_by_the_queue_at_arrival(tmp_path: Path) -> None:
    curve = curve_of(tmp_path, "dctcp")
    assert curve == MarkingCurve(98_670, 98_670, 1.0, at="arrival")
    assert str(curve) == "marks beyond 98670 bytes"


@pytest.mark.parametrize("transport", ["rogue", "roce+pfc", "roce+timely", "cubic"])
def test_transports_without_marks(tmp_path: Path, transport: str) -> None:
    assert curve_of(tmp_path, transport) is None


@pytest.mark.parametrize(
    ("parameters", "key", "expected"),
    [
        ({"kmin": "300KB"}, "kmin", "up to kmax, 200000"),
        ({"kmax": "1KB"}, "kmax", "from kmin on, 5000"),
        ({"drops_above": 0.5}, "drops_above", "0 or 1"),
    ],
)
def test_impossible_curve_is_an_error(
    tmp_path: Path, parameters: dict[str, str | float], key: str, expected: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        curve_of(tmp_path, "roce+dcqcn", **parameters)
    assert (caught.value.mistake.key, caught.value.mistake.expected) == (key, expected)
