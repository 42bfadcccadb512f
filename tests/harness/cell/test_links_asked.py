"""The links that a cell asks for, and what goes wrong on them."""

from pathlib import Path

from helpers.experiments import cell_of

from rogue.harness.cell.network import OutageAsked

DUMBBELL = "topology={kind: dumbbell, hosts_per_side: 2, rate: 10Gbps, bottleneck_rate: 1Gbps, delay: 3us}"
LATER = "{kind: link_cut, target: s0-s1, at: 2ms, duration: 1ms}"
SOONER = "{kind: link_cut, target: h1, at: 1ms, duration: 5ms}"


def test_every_link_has_its_numbers(tmp_path: Path) -> None:
    links = cell_of(tmp_path, DUMBBELL).network.links
    assert [(link.a, link.b, link.rate_bps) for link in links if "s1" in (link.a, link.b)] == [
        ("h2", "s1", 10**10), ("h3", "s1", 10**10), ("s0", "s1", 10**9),
    ]  # fmt: skip
    assert {(link.delay_ns, link.delay_spread_ns, link.losses) for link in links} == {(3_000, 5, ())}
    assert links[0].ports == (f"{links[0].a}->{links[0].b}", f"{links[0].b}->{links[0].a}")


def test_losses_are_their_links(tmp_path: Path) -> None:
    """Also those of nothing: who asks for them asks for a network that may lose packets."""
    losses = "faults=[{kind: loss, target: s0-s1, one_in: 8}, {kind: loss, target: h2, probability: 0}]"
    by_ports = {link.ports: link.losses for link in cell_of(tmp_path, DUMBBELL, losses).network.links}
    lossy = {ports: [loss.mean_probability for loss in found] for ports, found in by_ports.items() if found}
    assert lossy == {("s0->s1", "s1->s0"): [0.125], ("h2->s1", "s1->h2"): [0.0]}


def test_outages_stand_as_written_and_other_faults_are_no_links(tmp_path: Path) -> None:
    flooding = "{kind: flooding, target: s0, destination: h1}"
    network = cell_of(tmp_path, DUMBBELL, f"faults=[{flooding}, {LATER}, {SOONER}]").network
    assert network.outages == (
        OutageAsked("s0", "s1", 2_000_000, 1_000_000),
        OutageAsked("h1", "s0", 1_000_000, 5_000_000),
    )
    later = LATER.replace("duration", "reroute_after: 10us, duration")
    assert cell_of(tmp_path, DUMBBELL, f"faults=[{later}]").network.outages == (
        OutageAsked("s0", "s1", 2_000_000, 1_000_000, 10_000),
    )
    assert network.outages[0].ports == ("s0->s1", "s1->s0")
    assert [fault.target for fault in network.breakages] == ["s0"]


def test_an_outage_of_one_direction_goes_from_the_first_to_the_second(tmp_path: Path) -> None:
    found = [
        cell_of(tmp_path, DUMBBELL, f"faults=[{LATER.replace('s0-s1', target + ', one_way: true')}]")
        for target in ("s1-s0", "s0-s1", "h2")
    ]
    assert [cell.network.outages[0].ports for cell in found] == [("s1->s0",), ("s0->s1",), ("h2->s1",)]
