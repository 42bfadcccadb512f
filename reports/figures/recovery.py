"""Figure: what happened to queue pairs and links, under the goodput of the same time."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.figure import ReportFigure
from reports.figures.panels import panels, plain
from reports.figures.throughput import draw_flows
from reports.quantities import counted, duration_text, size_text
from reports.results import Results
from reports.style import ALARM, INK
from reports.view import QP_FAILED, CellView

KINDS_MAX: Final = 8
# Events that mean harm have the colour of alarm; all others are steps of the recovery.
HARMFUL: Final = (QP_FAILED, "link_cut", "connection_failed", "gave_up")


class RecoveryTimeline(ReportFigure):
    """Per setting a panel of goodput and below it one of events, the first repetition."""

    title: ClassVar = "Failures and recovery over time"
    needs: ClassVar = ("flows", "throughput", "events")
    settings_max: ClassVar = 4
    caption: ClassVar = (
        "Above: payload delivered in order, one line per flow. Below, on the same time axis: each mark is one"
        " event, a row per kind of event; crosses are harm, circles are steps of the recovery. The step line"
        " in the upper panel is the payload sent again so far, as a fraction of all that is sent again; it"
        " rises where a transfer ends. The first repetition of each setting is drawn."
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
        titles = [text for setting in settings for text in (setting.title, "")]
        figure, axes = panels(titles, 1, share="none", height_inches=2.1, legend=False)
        for row, setting in enumerate(settings):
            view = self.views(results, setting)[0]
            above, below = axes[2 * row], axes[2 * row + 1]
            draw_flows(above, view, setting.style.colour)
            _draw_sent_again(above, view)
            _draw_events(below, view)
            above.set_ylabel("goodput (Gb/s)")
            above.set_ylim(bottom=0)
            above.legend(loc="upper right", ncols=2)
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
            again = _sent_again(view)
            total = f" {size_text(float(again.iloc[-1]))} were sent again." if len(again) else ""
            sentences.append(f"{setting.title}: {'; '.join(parts)}.{total}")
        return " ".join(sentences)


def _events(view: CellView) -> pd.DataFrame:
    """Return the events in order of time."""
    events = view.table("events")
    assert events is not None, "only cells with events are drawn"
    return events.sort_values("t_ns", kind="stable").astype({"event": str, "flow_id": str})


def _sent_again(view: CellView) -> "pd.Series[float]":
    """Return the payload sent again so far, by the time (ns) at which it became known; empty if none was."""
    flows = view.table("flows")
    assert flows is not None, "only cells with flows are drawn"
    known = flows[flows["retransmitted_bytes"].notna()].copy()
    known["end_ns"] = known["end_ns"].fillna(max(end for _, end in view.spans.values()))
    known = known.sort_values("end_ns", kind="stable")
    total = known.set_index("end_ns")["retransmitted_bytes"].astype(np.float64).cumsum()
    return total if len(total) and total.iloc[-1] > 0 else total.iloc[:0]


def _draw_sent_again(axis: Axes, view: CellView) -> None:
    again = _sent_again(view)
    if again.empty:
        return
    top = float(axis.dataLim.ymax) or 1.0
    times_s = [0.0, *(again.index.to_numpy(dtype=np.float64) / 1e9), axis.get_xlim()[1]]
    heights = [0.0, *(top * again.to_numpy() / float(again.iloc[-1])), top]
    label = f"sent again so far, of {size_text(float(again.iloc[-1]))}"
    axis.step(times_s, heights, where="post", color=INK, linewidth=1.0, linestyle=":", label=label)


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
