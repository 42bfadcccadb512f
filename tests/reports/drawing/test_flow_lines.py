"""Lines of flows."""

import pandas as pd
import pytest
from matplotlib.figure import Figure

from rogue.reports.drawing.marks import draw_flow_lines


def of_flow(name: str, values: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"flow_id": name, "t_ns": range(0, 10**9 * len(values), 10**9), "x": values})


@pytest.mark.parametrize(("lines_max", "lines"), [(None, 3), (2, 2)])
def test_a_thin_line_for_each_flow_of_the_first_repetition(lines_max: int | None, lines: int) -> None:
    axis = Figure().subplots()
    first = pd.concat([of_flow(name, [2.0, 4.0]) for name in "abc"])
    draw_flow_lines(axis, [first, of_flow("a", [200.0])], ("x", 2.0), "black", lines_max)
    thin = [line for line in axis.lines if line.get_linewidth() < 1]
    assert [line.get_ydata().tolist() for line in thin] == [[1, 2]] * lines
    assert len(axis.lines) == lines + 1, "the median of all"


def test_one_flow_has_no_spread() -> None:
    axis = Figure().subplots()
    draw_flow_lines(axis, [of_flow("a", [2.0, 4.0])], ("x", 1.0), "black")
    assert len(axis.lines) == 1
    assert not axis.collections
