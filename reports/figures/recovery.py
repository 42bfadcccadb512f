"""Figure: what happened to queue pairs and links, under the goodput of the same time."""

from collections.abc import Callable
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import QP_FAILED, CellView
from rogue.reports.drawing.marks import ReadableTicks, seconds_axis
from rogue.reports.drawing.panels import panels, plain, widen_left
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.figures.throughput import draw_flows
from rogue.reports.quantities import counted, duration_text, size_text
from rogue.reports.results import Results, Setting
from rogue.reports.transport_styles import ALARM, INK

KINDS_MAX: Final = 8
# Room for the names of events beside their rows.
EVENT_NAME_INCHES: Final = 1.35
# Events that mean harm have the colour of alarm; all others are steps of the recovery.
HARMFUL: Final = (QP_FAILED, "link_cut", "connection_failed", "gave_up")
# What flows do at too few limiters, whether or not anything fails.
TURNS: Final = ("turn", "turn_over")


class RecoveryTimeline(ReportFigure):
    """Per setting panels of goodput, of what was sent again, and of events; the first repetition."""

    title: ClassVar = "Failures and recovery over time"
    needs: ClassVar = ("flows", "throughput", "events")
    panels_per_setting: ClassVar = 3
    caption: ClassVar = (
        "On one time axis: payload delivered in order, one line per flow; payload that NIC and software have"
        " sent again so far, all flows together; and the events, a row per kind, where crosses are harm and"
        " circles are steps of the recovery. The title says how much was sent again in all. The first"
        " repetition of each setting is drawn."
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
        """Draw the panels of each setting; that of what was sent again only where it was sampled."""
        rows: list[tuple[Callable[[Axes, CellView, Setting], None], Setting, str]] = []
        for setting in self.shown(results):
            view = self.views(results, setting)[0]
            rows.append((_draw_goodput, setting, self._panel_title(results, setting)))
            if _sent_again(view) is not None:
                rows.append((_draw_sent_again, setting, ""))
            rows.append((_draw_events, setting, ""))
        figure, axes = panels([title for *_, title in rows], 1, share="none", height_inches=2.1, legend=False)
        widen_left(figure, EVENT_NAME_INCHES)
        for axis, (draw, setting, _) in zip(axes, rows, strict=True):
            draw(axis, self.views(results, setting)[0], setting)
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
    """Return the events in order of time, but for turns at limiters."""
    events = view.table("events")
    assert events is not None, "only cells with events are drawn"
    events = events[~events["event"].isin(TURNS)]
    return events.sort_values("t_ns", kind="stable").astype({"event": str, "flow_id": str})


def _sent_again_bytes(view: CellView) -> float | None:
    """Return the payload that was sent again in all; None if it is not known."""
    flows = view.table("flows")
    assert flows is not None, "only cells with flows are drawn"
    known = flows["retransmitted_bytes"].dropna()
    return float(known.sum()) if len(known) else None


def _sent_again(view: CellView) -> pd.Series | None:
    """Return the payload sent again so far, by end of interval; None where it was not sampled."""
    rows = view.deliveries
    if rows is None or rows["retransmitted_bytes"].isna().any():
        return None
    return rows.groupby("t_ns")["retransmitted_bytes"].sum().cumsum()


def _draw_goodput(axis: Axes, view: CellView, setting: Setting) -> None:
    draw_flows(axis, view, setting.style.colour)
    axis.set_ylabel("goodput (Gb/s)")
    axis.set_ylim(0, 1.06 * float(axis.dataLim.ymax) or 1.0)


def _draw_sent_again(axis: Axes, view: CellView, setting: Setting) -> None:
    """Draw steps: what was sent again within an interval stands from its end on."""
    total = _sent_again(view)
    assert total is not None, "only cells with samples are drawn"
    times_s, total_bytes = total.index.to_numpy(dtype=np.float64) / 1e9, total.to_numpy(dtype=np.float64)
    axis.step([0.0, *times_s], [0.0, *total_bytes], where="post", color=setting.style.colour, linewidth=1.2)
    axis.set_ylim(0, 1.1 * float(total_bytes[-1]) or 1.0)
    axis.yaxis.set_major_formatter(ReadableTicks(size_text, "bytes"))
    axis.set_ylabel("sent again")
    _same_time(axis, view)


def _same_time(axis: Axes, view: CellView) -> None:
    assert view.deliveries is not None, "only cells with samples are drawn"
    axis.set_xlim(0, int(view.deliveries["t_ns"].max()) / 1e9)
    seconds_axis(axis)


def _draw_events(axis: Axes, view: CellView, _setting: Setting) -> None:
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
    axis.set_ylabel("event")
    _same_time(axis, view)
