"""Tests: analyse a measure or claim: screening, Sobol indices and the smallest change that flips it."""

from dataclasses import replace
from pathlib import Path

from helpers.searched import WHOLE, HillTestbed, analysed, testbed

from rogue.harness.search.analysis import Indices, index_rows, sensitivity_of, ticks_of, turn_line
from rogue.harness.search.screening import Index

__all__ = ["testbed"]


def test_a_key_that_does_nothing_is_left_by_the_screening(tmp_path: Path, testbed: HillTestbed) -> None:
    """One key moves the number, so that it has all of the variance, and indices would say no more."""
    found, _ = analysed(tmp_path, testbed)
    assert found.indices is None and found.flip is not None and found.flip.turn is not None
    assert len(found.ran) == 9 + 1 + len(found.flip.tried)


def test_a_measure_alone_is_not_turned(tmp_path: Path, testbed: HillTestbed) -> None:
    found, _ = analysed(tmp_path, testbed, claims=False)
    assert found.flip is None and len(found.ran) == 9


def test_the_keys_that_are_left_have_indices(tmp_path: Path, testbed: HillTestbed) -> None:
    """Half of the senders come from each of two keys: each has half of the variance."""

    class Sum(HillTestbed):
        def run(self, cell, progress):  # type: ignore[no-untyped-def]
            result = super().run(cell, progress)
            extra = 6000 * (cell.groups[0].flows[0].size_bytes > 100_000)
            result.tables["flows"]["fct_ns"] = [each + extra for each in result.tables["flows"]["fct_ns"]]
            return result

    found, _ = analysed(
        tmp_path, Sum(), WHOLE.replace("samples: 4", "samples: 8").replace("count: 2", "count: 1")
    )
    assert found.indices is not None and found.indices.found is not None
    assert len(found.indices.measured) == 8 * 4
    assert all(0.2 < each.total < 1.2 for each in found.indices.found)


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


def test_a_page_has_each_point_once_with_its_place(tmp_path: Path, testbed: HillTestbed) -> None:
    found, variation = analysed(tmp_path, testbed)
    shown = sensitivity_of("hill", [found], variation)
    (answer,) = shown.answers
    assert (answer.name, answer.published, answer.share("workload.senders")) == ("C-1", None, 1.0)
    assert [curve.key for curve in answer.curves] == ["workload.senders"], "the other moves nothing"
    assert len(answer.curves[0].steps) == 3
    values = [tuple(each.values) for each in shown.ran]
    assert len(set(values)) == len(values) and values[0] == ("2", "1MB")
    first = shown.ran[0]
    assert first.name.startswith("own") and first.results[0] is not None and first.results[0].holds is True
    assert ticks_of(variation.keys["workload.senders"]) == [(0.0, "2"), (0.5, "5"), (1.0, "8")]
