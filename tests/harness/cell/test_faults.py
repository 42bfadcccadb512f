"""Tests:"""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.cell import fault_events
from rogue.harness.cell.faults import faults_struck
from rogue.workloads.faults import LinkCut

TREE = "topology={kind: fat_tree, k: 4, rate: 10Gbps}"
OF_AN_EDGE = "{kind: link_failures, target: s0, links: 1, at: 1ms, duration: 2ms}"
UPLINKS = {"s0-s8", "s0-s9"}


def struck(directory: Path, faults: str, seed: int) -> list[str]:
    cell = cell_of(directory, TREE, f"faults=[{faults}]", f"seed={seed}")
    assert faults_struck(cell.experiment, cell.seed) == cell.faults
    return [fault.target for fault in cell.faults]


@pytest.mark.parametrize("seed", range(8))
def test_entries_know_of_each_other(tmp_path: Path, seed: int) -> None:
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


def test_outages_of_one_link_that_adjoin_or_overlap_are_one(tmp_path: Path) -> None:
    """In any order, and also where one ends within another; the first that was written gives its place."""
    first, second = "at: 100us, duration: 100us", "at: 200us, duration: 100us"
    assert outages(tmp_path, first, second) == [("s0-s8", 100, 300)]
    other, within = "target: s0-s9, at: 5us, duration: 1us", "target: s8-s0, at: 210us, duration: 10us"
    assert outages(tmp_path, second, other, first, within) == [("s0-s8", 100, 300), ("s0-s9", 5, 6)]


def test_outages_that_are_told_apart_stay_apart(tmp_path: Path) -> None:
    """By a gap, by when switches know of them, or by their direction."""
    first, second = "at: 100us, duration: 100us", "at: 200us, duration: 100us"
    apart = [("s0-s8", 100, 200), ("s0-s8", 200, 300)]
    assert outages(tmp_path, first, "at: 201us, duration: 99us") == [("s0-s8", 100, 200), ("s0-s8", 201, 300)]
    assert outages(tmp_path, first, f"{second}, reroute_after: 150us") == apart
    assert outages(tmp_path, f"{first}, one_way: true", second) == apart
    back = f"target: s8-s0, {second}, one_way: true"
    assert outages(tmp_path, f"{first}, one_way: true", back) == [apart[0], ("s8-s0", 200, 300)]


def test_switches_know_of_a_link_that_is_down_for_long_by_two_outages(tmp_path: Path) -> None:
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


def test_nothing_goes_wrong_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert cell_of(tmp_path, "faults=[]").faults == ()
