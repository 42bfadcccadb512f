"""Figure: what happened to queue pairs and links, under the goodput of the same time."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.figure import ReportFigure
from reports.figures.panels import WIDTH_INCHES, panels, plain
from reports.figures.throughput import draw_flows
from reports.quantities import counted, duration_text, size_text
from reports.results import Results, Setting
from reports.style import ALARM, INK
from reports.view import QP_FAILED, CellView

KINDS_MAX: Final = 8
# Room for the names of events beside their rows.
EVENT_NAME_INCHES: Final = 1.35
# Events that mean harm have the colour of alarm; all others are steps of the recovery.
HARMFUL: Final = (QP_FAILED, "link_cut", "connection_failed", "gave_up")


class RecoveryTimeline(ReportFigure):
    """Per setting a panel of goodput and below it one of events, the first repetition."""

    title: ClassVar = "Failures and recovery over time"
    needs: ClassVar = ("flows", "throughput", "events")
    settings_max: ClassVar = 4
    caption: ClassVar = (
        "Above: payload delivered in order, one line per flow. Below, on the same time axis: each mark is one"
        " event, a row per kind of event; crosses are harm, circles are steps of the recovery. The title says"
        " how much payload was sent again in all. The first repetition of each setting is drawn."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether a link or a queue pair failed in a cell whose flows were sampled."""
        events = view.table("events")
        return (
            super().usable(view)
            and view.deliveries is not None
            and events is not None
            and bool(events["event"].isin(HARMFUL).any())
        )

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return "In no finished cell did a link or a queue pair fail (events.parquet)."

    def draw(self, results: Results) -> Figure:
        """Draw both panels of each setting."""
        settings = self.shown(results)
        titles = [text for setting in settings for text in (self._panel_title(results, setting), "")]
        figure, axes = panels(titles, 1, share="none", height_inches=2.1, legend=False)
        figure.subplots_adjust(left=EVENT_NAME_INCHES / WIDTH_INCHES)
        for row, setting in enumerate(settings):
            view = self.views(results, setting)[0]
            above, below = axes[2 * row], axes[2 * row + 1]
            draw_flows(above, view, setting.style.colour)
            _draw_events(below, view)
            above.set_ylabel("goodput (Gb/s)")
            above.set_ylim(0, 1.06 * float(above.dataLim.ymax) or 1.0)
            below.set_xlim(above.get_xlim())
        return figure

    def describe(self, results: Results) -> str:
        """Say which events there were, how often and when first, and what was sent again."""
        sentences = []
        for setting in self.shown(results):
            view = self.views(results, setting)[0]
            events = _events(view)
            parts = [
                f"{kind} {counted(len(rows), 'time')}, first at {duration_text(int(rows['t_ns'].min()))}"
                for kind, rows in events.groupby("event", sort=False)
            ]
            again_bytes = _sent_again_bytes(view)
            total = "" if again_bytes is None else f" {size_text(again_bytes)} were sent again."
            sentences.append(f"{setting.title}: {'; '.join(parts)}.{total}")
        return " ".join(sentences)

    def _panel_title(self, results: Results, setting: Setting) -> str:
        again_bytes = _sent_again_bytes(self.views(results, setting)[0])
        return (
            setting.title if again_bytes is None else f"{setting.title}: {size_text(again_bytes)} sent again"
        )


def _events(view: CellView) -> pd.DataFrame:
    """Return the events in order of time."""
    events = view.table("events")
    assert events is not None, "only cells with events are drawn"
    return events.sort_values("t_ns", kind="stable").astype({"event": str, "flow_id": str})


def _sent_again_bytes(view: CellView) -> float | None:
    """Return the payload that was sent again in all; None where nobody knows."""
    flows = view.table("flows")
    assert flows is not None, "only cells with flows are drawn"
    known = flows["retransmitted_bytes"].dropna()
    return float(known.sum()) if len(known) else None


def _draw_events(axis: Axes, view: CellView) -> None:
    """Draw a row of marks per kind of event, in the order in which the kinds first occur."""
    events = _events(view)
    kinds = list(dict.fromkeys(events["event"]))[:KINDS_MAX]
    for row, kind in enumerate(kinds):
        times_s = events.loc[events["event"] == kind, "t_ns"].to_numpy(dtype=np.float64) / 1e9
        harmful = kind in HARMFUL
        axis.plot(
            times_s,
            np.full(len(times_s), row),
            linestyle="none",
            marker="x" if harmful else "o",
            markersize=7 if harmful else 5,
            markeredgewidth=1.8 if harmful else 1.0,
            color=ALARM if harmful else INK,
            clip_on=False,
        )
    axis.set_yticks(range(len(kinds)), [plain(kind.replace("_", " "), 18) for kind in kinds])
    axis.set_ylim(len(kinds) - 0.5, -0.5)
    axis.set_xlabel("time (s)")
    axis.set_ylabel("event")
