"""A quantity of flows over time: a thin line for each flow, and the spread of all of them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rogue.reports.drawing.marks import POINTS_MAX, draw_spread, seconds_axis


def draw_flow_lines(
    axis: Axes,
    repetitions: Sequence[pd.DataFrame],
    drawn: tuple[str, float],
    colour: str,
    lines_max: int | None = None,
) -> None:
    """Draw one thin line per flow of the first repetition, and the spread over all flows and repetitions.

    Each frame has `flow_id`, `t_ns` and the column that is drawn, in multiples of its unit. Of many flows
    `lines_max` get a line; the spread has all.
    """
    column, unit = drawn
    together = pd.concat(repetitions)
    if together.groupby(together["flow_id"].astype(str)).ngroups * len(repetitions) > 1:
        times_s = together["t_ns"].to_numpy(dtype=np.float64) / 1e9
        draw_spread(axis, times_s, together[column].to_numpy(dtype=np.float64) / unit, colour)
    flows = [flow for _, flow in repetitions[0].groupby("flow_id", observed=True)]
    for flow in flows[:lines_max]:
        kept = np.unique(np.linspace(0, len(flow) - 1, min(POINTS_MAX, len(flow))).astype(int))
        axis.plot(
            flow["t_ns"].to_numpy()[kept] / 1e9,
            flow[column].to_numpy()[kept] / unit,
            color=colour,
            linewidth=0.7,
            alpha=0.6,
            drawstyle="steps-post",
        )
    axis.set_xlim(left=0)
    seconds_axis(axis)
