"""What an analysis came to, in words."""

from dataclasses import replace
from pathlib import Path

from helpers.analysed import WHOLE, analysed
from helpers.searched import HillTestbed, testbed

from rogue.harness.search.analysis import Indices, index_rows, turn_line
from rogue.harness.search.screening import Index

__all__ = ["testbed"]
OTHERS = range(101, 104)


def test_a_turn_is_a_sentence_with_both_ends(tmp_path: Path, testbed: HillTestbed) -> None:
    found, _ = analysed(tmp_path, testbed)
    line = turn_line(found, OTHERS)
    assert line is not None and line.startswith("It holds at the experiment's own values (2 µs).")
    assert "workload.senders from 2 to 5, 0.50 of its range (5 µs). Of 3 other seeds it turns with 3." in line
    assert found.flip is not None
    never = replace(found, flip=replace(found.flip, turn=None, held=False))
    line = turn_line(never, OTHERS)
    assert line is not None and "does not hold" in line
    assert f"at none of {len(found.flip.tried)} points" in line
    lost = replace(found.flip.own, value=None, problem="it failed")
    assert "(it failed)" in (
        turn_line(replace(found, flip=replace(found.flip, own=lost, held=None)), OTHERS) or ""
    )


def test_without_a_search_for_a_turn_there_is_no_sentence(tmp_path: Path, testbed: HillTestbed) -> None:
    found, _ = analysed(tmp_path, testbed, WHOLE.replace("flip: 8", "flip: 0"))
    assert turn_line(found, OTHERS) is None


def test_indices_stand_beside_their_keys() -> None:
    found = Indices(("a", "b"), [Index(0.5, 0.1, 0.75, 0.2), Index(-0.01, 0.1, 0.0, 0.0)], [])
    assert index_rows(found) == [
        ("key", "alone", "with others"),
        ("a", "0.50 ± 0.10", "0.75 ± 0.20"),
        ("b", "-0.01 ± 0.10", "0.00 ± 0.00"),
    ]
    assert len(index_rows(replace(found, found=None))) == 1
