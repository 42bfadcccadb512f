"""Tests: folds, gain and null of the inference over RoGUE's figures."""

import json
from pathlib import Path

import infer_rogue
import numpy as np
import pytest


def test_every_figure_is_held_out_five_times() -> None:
    counts = np.bincount(np.ravel(infer_rogue.FOLDS))
    assert (len(infer_rogue.FOLDS), counts.tolist()) == (15, [5] * 6)


def test_a_setting_that_explains_all_figures_gains_what_the_suite_misses() -> None:
    votes = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]], dtype=float)
    assert infer_rogue.gain(votes) == pytest.approx(3)


def test_settings_that_each_explain_one_figure_gain_nothing() -> None:
    """The best for four figures is one of four, and holds none of the other two."""
    votes = np.vstack([np.zeros(6), np.eye(6)])
    assert infer_rogue.gain(votes) == 0
    assert np.quantile(infer_rogue.null_gains(votes), 0.95) >= 0


def test_the_suite_is_the_first_point_and_lies_in_the_space() -> None:
    first, *others = infer_rogue.sobol_points()
    assert first == infer_rogue.SUITE
    assert len(others) == infer_rogue.SOBOL_POINTS
    assert all(
        point[key] in infer_rogue.SPACE[key] for point in [first, *others] for key in infer_rogue.SPACE
    )


def test_a_verdict_names_the_values_with_which_a_figure_comes_out(tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    other = infer_rogue.SUITE | {"mtu": 1024}
    rows = [
        {"point": infer_rogue.SUITE, "votes": dict.fromkeys(infer_rogue.FIGURES, 0.0)},
        {"point": other, "votes": dict.fromkeys(infer_rogue.FIGURES, 1.0)},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    text = infer_rogue.judge(path)
    assert "held-out gain 6.00" in text
    assert "'mtu': [1024]" in text
