"""Functions for plug-ins to add measures and figures to reports, called when their file is loaded."""

from rogue.reports.figures import FIGURES
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics import METRICS, PLUGGED
from rogue.reports.metrics.by_size import metrics_of_classes
from rogue.reports.metrics.metric import Metric
from rogue.workloads.registration import add, check_class

__all__ = ["register_figure", "register_metric", "register_size_classes"]


def register_metric(metric: Metric) -> None:
    """Show a measure in every report, in the table of the measures of plug-ins."""
    if not isinstance(metric, Metric):
        raise ValueError(f"{metric!r} as a measure, expected Metric(name, title, unit, ...)")
    add("measure", metric.name, metric, METRICS, PLUGGED)


def register_size_classes(*bounds_bytes: int) -> None:
    """Show percentiles of completion time and slowdown by size, with these bounds of classes."""
    for metric in metrics_of_classes(bounds_bytes):
        register_metric(metric)


def register_figure(name: str, figure: type[ReportFigure]) -> None:
    """Draw a figure in every report, after its own figures."""
    check_class("figure", figure, ReportFigure)
    add("figure", name, figure, FIGURES)
