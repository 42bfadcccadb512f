"""Figure: how much longer transfers take than alone, by the groups that a trace names."""

from typing import ClassVar, Final

import numpy as np
from matplotlib.figure import Figure

from rogue.reports.cells.transfers import coded
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.drawing.marks import Values, draw_cdf, line_look, ratio_axis
from rogue.reports.drawing.panels import legend_above, panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.completion import counted as is_counted
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.quantities import Unit, counted, quantity_text, readable
from rogue.reports.results import Results, Setting, settings_by_point

GROUPS_MAX: Final = 6
ONLY_GROUP: Final = "main."
"""What stands before a group of the trace where an experiment has one kind of traffic."""


class GroupSlowdowns(ReportFigure):
    """Per factor point a panel for each group, one line per transport."""

    title: ClassVar = "Slowdown by group of the trace"
    needs: ClassVar = ("flows",)
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Height: fraction of a group’s transfers that took at most so many times as long as alone in the"
        " empty network; further left is better. A line that ends below 1 shows transfers that did not"
        f" complete. The axis is logarithmic. At most {GROUPS_MAX} groups, those with the most transfers; all"
        " repetitions together."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether a trace named groups, and some of their transfers completed."""
        return any(np.isfinite(values).any() for values in slowdowns(view).values())

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return "No finished cell has a trace with groups whose transfers complete (flows.parquet)."

    def draw(self, results: Results) -> Figure:
        """Draw the cumulative distributions."""
        points = settings_by_point(self.shown(results))
        groups = self._groups(results)
        kinds = [(point, group) for point in points for group in groups]
        titles = [": ".join(filter(None, (point, _shown(group)))) for point, group in kinds]
        figure, axes = panels(titles, min(len(groups), 3), share="none")
        for axis, (point, group) in zip(axes, kinds, strict=True):
            for setting in points[point]:
                values = self._values(results, setting, group)[0]
                if len(values):
                    look = line_look(setting.style, len(points[point]))
                    draw_cdf(axis, values, plain(setting.style.name), **look)
            ratio_axis(axis)
            axis.set_xlabel("slowdown")
            axis.set_ylabel("fraction of transfers")
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say count, mean completion time, median and 99th percentile of each line."""
        sentences = []
        for setting in self.shown(results):
            for group in self._groups(results):
                values, taken_ns = self._values(results, setting, group)
                if not len(values):
                    continue
                median, tail = (
                    quantity_text(nearest_rank(values, percent), Unit.RATIO) for percent in (50, 99)
                )
                done = counted(int(np.isfinite(values).sum()), "transfer")
                mean = readable(float(taken_ns.mean()), Unit.TIME)
                sentences.append(
                    f"{setting.title}, {_shown(group)}: {done} of {len(values)} completed; completion"
                    f" time {mean} on average; slowdown {median} at the median, 99th percentile {tail}."
                )
        return " ".join(sentences)

    def _groups(self, results: Results) -> list[str]:
        """Return the largest groups, by name."""
        counts: dict[str, int] = {}
        for setting in self.settings(results):
            for view in self.views(results, setting):
                for group, values in slowdowns(view).items():
                    counts[group] = counts.get(group, 0) + len(values)
        return sorted(sorted(counts, key=lambda group: -counts[group])[:GROUPS_MAX])

    def _values(self, results: Results, setting: Setting, group: str) -> tuple[Values, Values]:
        """Return slowdowns and completion times (ns) of a group, infinite where one did not complete."""
        views = self.views(results, setting)
        found = [
            np.concatenate([np.empty(0), *(of_view(view).get(group, np.empty(0)) for view in views)])
            for of_view in (slowdowns, times_ns)
        ]
        return found[0], found[1]


def _shown(group: str) -> str:
    return plain(group.removeprefix(ONLY_GROUP), 30)


@once_per_cell
def slowdowns(view: CellView) -> dict[str, Values]:
    """Return the slowdown of each counted transfer, by the group that a trace named."""
    transfers = view.transfers
    return {} if transfers is None else _by_group(view, transfers.slowdown)


@once_per_cell
def times_ns(view: CellView) -> dict[str, Values]:
    """Return the completion time of each counted transfer, by the group that a trace named."""
    transfers = view.transfers
    return {} if transfers is None else _by_group(view, transfers.fct_ns)


def _by_group(view: CellView, values: Values) -> dict[str, Values]:
    flows, transfers, wanted = view.table("flows"), view.transfers, is_counted(view)
    if flows is None or transfers is None or wanted is None:
        return {}
    known = np.where(transfers.is_ok & ~np.isnan(values), values, np.inf)
    groups = coded(flows["group"])
    codes = groups.codes[flows["size_bytes"].to_numpy() > 0]
    return {
        name: known[wanted & (codes == code)]
        for code, name in enumerate(groups.names)
        if "." in name and (wanted & (codes == code)).any()
    }
