"""A metric and a figure from a plug-in."""

from typing import ClassVar

from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.panels import panels
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.metric import Metric
from rogue.reports.plugins import register_figure, register_metric
from rogue.reports.quantities import Unit
from rogue.reports.results import Results


def _flows(view: CellView, _interval_ns: int) -> float:
    return float(len(view.flow_ids))


class Empty(ReportFigure):
    """One panel per setting, with nothing in it."""

    title: ClassVar = "A figure of a plug-in"
    needs: ClassVar = ("flows",)
    caption: ClassVar = "Nothing is drawn."

    def draw(self, results: Results) -> Figure:
        """Draw axes."""
        return panels([setting.title for setting in self.shown(results)], height_inches=2.0)[0]

    def describe(self, results: Results) -> str:
        """Say what is there."""
        return "Empty axes."


register_metric(
    Metric("flows_seen", "Flows seen", Unit.COUNT, "Flows that had a transfer.", ("flows",), _flows, "higher")
)
register_figure("empty", Empty)
