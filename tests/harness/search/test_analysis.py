"""From a screening to indices and turns."""

from pathlib import Path

from helpers.analysed import WHOLE, analysed
from helpers.searched import HillTestbed, testbed

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
