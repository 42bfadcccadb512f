"""What chance decides of faults."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.chance import faults_struck

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


def test_nothing_goes_wrong_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert cell_of(tmp_path, "faults=[]").faults == ()
