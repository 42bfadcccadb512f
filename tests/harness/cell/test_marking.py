"""When packets are marked: K of DCTCP, the curve of DCQCN, or as the experiment says."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of, group_in

from rogue.harness.cell.marking import DCQCN_CURVE, MarkingCurve
from rogue.harness.cell.transport import ParameterError
from rogue.harness.experiment.choices import Scalar


def curve_of(directory: Path, transport: str, *settings: str, **parameters: Scalar) -> MarkingCurve | None:
    return group_in(cell_of(directory, *settings), transport, parameters).settings.marking


@pytest.mark.parametrize(("rate", "frames"), [("1Gbps", 20), ("10Gbps", 65), ("40Gbps", 260)])
def test_it_grows_with_the_rate(tmp_path: Path, rate: str, frames: int) -> None:
    """65 frames of 1518 bytes at 10 Gb/s, and never fewer than 20."""
    curve = curve_of(tmp_path, "dctcp", f"topology.rate={rate}")
    assert curve is not None and curve.kmin_bytes == frames * 1518


@pytest.mark.parametrize("value", [True, "long", -1, "-1B", "2TB"])
def test_what_no_queue_can_be(tmp_path: Path, value: Scalar) -> None:
    with pytest.raises(ParameterError) as caught:
        curve_of(tmp_path, "dctcp", mark_above=value)
    assert caught.value.mistake.key == "mark_above"


@pytest.mark.parametrize("transport", ["roce+dcqcn", "irn+pfc+dcqcn", "resilient_roce"])
def test_a_control_that_reacts_to_marks_has_dcqcns_curve(tmp_path: Path, transport: str) -> None:
    """Table 1 of "ECN or delay": 5 KB, 200 KB and 1 %."""
    curve = curve_of(tmp_path, transport)
    assert curve == DCQCN_CURVE == MarkingCurve(5_000, 200_000, 0.01)
    assert str(curve) == "marks from 5000 to 200000 bytes, then with 0.01"


def test_the_curve_can_be_asked_for(tmp_path: Path) -> None:
    asked: dict[str, Scalar] = {"kmin": "20KB", "kmax": "1MB", "pmax": 0.5, "drops_instead": 1}
    found = curve_of(tmp_path, "roce+dcqcn", average_weight=0.002, **asked)
    assert found == MarkingCurve(20_000, 1_000_000, 0.5, average_weight=0.002, drops_instead=True)


def test_k_is_a_step_by_the_queue_at_arrival(tmp_path: Path) -> None:
    curve = curve_of(tmp_path, "dctcp")
    assert curve == MarkingCurve(98_670, 98_670, 1.0, at="arrival")
    assert str(curve) == "marks beyond 98670 bytes"


@pytest.mark.parametrize("transport", ["rogue", "roce+pfc", "roce+timely", "cubic"])
def test_who_needs_no_marks(tmp_path: Path, transport: str) -> None:
    assert curve_of(tmp_path, transport) is None


@pytest.mark.parametrize(
    ("parameters", "key", "expected"),
    [
        ({"kmin": "300KB"}, "kmin", "up to kmax, 200000"),
        ({"kmax": "1KB"}, "kmax", "from kmin on, 5000"),
        ({"drops_above": 0.5}, "drops_above", "0 or 1"),
    ],
)
def test_curves_that_cannot_be(
    tmp_path: Path, parameters: dict[str, str | float], key: str, expected: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        curve_of(tmp_path, "roce+dcqcn", **parameters)
    assert (caught.value.mistake.key, caught.value.mistake.expected) == (key, expected)
