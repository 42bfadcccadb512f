"""A number against one key at a time."""

from rogue.reports.pages.factor_curves import Curve, Dot, Step, response_curves

TICKS = [(0.0, "1us"), (0.5, "10us"), (1.0, "100us")]
DOTS = [Dot(0.0, 1.0, True), Dot(0.5, 4.0, False), Dot(1.0, 9.0, False)]


def drawn(curves: list[Curve], published: float | None = 2.0) -> str:
    return str(response_curves(curves, published, lambda number: f"{number:g} ms", "c", "title") or "")


def test_a_panel_has_its_values_the_published_line_and_both_verdicts() -> None:
    text = drawn([Curve("topology.delay", TICKS, DOTS, [Step(0.0, 0.5, 1.0, 4.0)])])
    assert all(word in text for word in ("topology.delay", "10us", "8 ms", "published", "the claim holds"))
    assert "it does not" in text and "a point that ran" not in text


def test_a_measure_has_points_alone() -> None:
    text = drawn([Curve("topology.delay", TICKS, [Dot(0.0, 1.0, None)], [])], published=None)
    assert "a point that ran" in text and "published" not in text


def test_numbers_far_apart_stand_on_a_logarithmic_axis() -> None:
    near, far = ([Curve("k", TICKS, [Dot(0.0, 1.0, None), Dot(1.0, end, None)], [])] for end in (9.0, 900.0))
    assert "100 ms" in drawn(far) and "1 ms" in drawn(far) and "4 ms" in drawn(near)


def test_without_points_nothing_is_drawn() -> None:
    assert drawn([Curve("k", TICKS, [], [])]) == ""
