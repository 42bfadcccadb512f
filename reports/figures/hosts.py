"""Figures: processor time at both ends, and failures of queue pairs and links with their recovery."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from rogue.reports.cells.view import QP_FAILED, CellView, loads_by_role
from rogue.reports.drawing.layers import Layer
from rogue.reports.drawing.panels import Share, plain
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.figure import Plot
from rogue.reports.figures.flows import flow_goodput
from rogue.reports.quantities import counted, duration_text, size_text
from rogue.reports.results import Results, Setting, spoken_text
from rogue.reports.transport_styles import ALARM, INK

ROLES: Final = ("client", "server")
KINDS_MAX: Final = 8
HARMFUL: Final = (QP_FAILED, "link_cut", "packet_event", "connection_failed", "gave_up")
"""Failures, drawn in the alarm colour; all other events are steps of the recovery."""
TURNS: Final = ("turn", "turn_over")
"""Events of flows that take turns at limiters, which are no failures."""


class CpuLoad(Plot):
    """A panel per factor point: for clients and servers a bar per transport, as in RoGUE's figure 6."""

    title: ClassVar = "Processor time at both ends"
    needs: ClassVar = ("cpu", "flows")
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Processor time of a host while the traffic lasts, all processes together, as a percentage of one"
        " core: mean over the hosts of each kind and over the repetitions; the line spans the repetitions. A"
        " client posts the verbs (with READ the receiver of the data), a server is at the other end. It"
        " includes everything else that runs on the host: the recording itself, and a NIC that is software."
    )
    x: ClassVar = Axis("end", "end of the flow")
    y: ClassVar = Axis("load_percent", "% of one core", "from zero")
    layers: ClassVar = (Layer("bars", look={"width": 0.8}),)

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and all(loads.size for loads in loads_by_role(view).values())

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        loads = [loads_by_role(view) for view in self.views(results, setting)]
        runs = [np.array([100 * each[role].mean() for each in loads]) for role in ROLES]
        ends = [(role, each.mean(), each.min(), each.max()) for role, each in zip(ROLES, runs, strict=True)]
        return pd.DataFrame(ends, columns=["end", "load_percent", "low", "high"])

    def words(self, results: Results, setting: Setting) -> str:
        rows = self.lines(results, setting)
        ends = zip(rows["end"], rows["load_percent"], strict=True)
        return ", ".join(f"{end} {percent:.1f} % of one core" for end, percent in ends)


class RecoveryTimeline(Plot):
    """Panels of goodput, of retransmitted payload and of events per setting; the first repetition."""

    title: ClassVar = "Failures and recovery over time"
    needs: ClassVar = ("flows", "throughput", "events")
    panels_per_setting: ClassVar = 3
    caption: ClassVar = (
        "On one time axis: payload delivered in order, one line per flow; payload that NIC and software have"
        " sent again so far, all flows together, with the total in the title; and the events, a row per kind,"
        " where crosses are harm and circles are steps of the recovery. The first repetition of each setting"
        " is drawn."
    )
    missing: ClassVar = "In no finished cell did a link or a queue pair fail (events.parquet)."
    x: ClassVar = Axis("time_s", "time", "seconds")
    y: ClassVar = Axis("value", "")
    layers: ClassVar = (
        Layer("line", "goodput (Gb/s)", look={"linewidth": 1.0, "alpha": 0.7}),
        Layer("steps", "sent again", look={"linewidth": 1.2}),
        Layer("points", "step", INK, {"marker": "o", "markersize": 5}),
        Layer("points", "harm", ALARM, {"marker": "X", "markersize": 7}),
    )
    columns: ClassVar = 1
    share: ClassVar[Share] = "none"
    height_inches: ClassVar = 1.8
    has_legend: ClassVar = False

    def usable(self, view: CellView) -> bool:
        events = view.table("events")
        has_harm = events is not None and bool(events["event"].isin(HARMFUL).any())
        return super().usable(view) and view.deliveries is not None and has_harm

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return the lines and marks; `value` is in Gb/s, in bytes, or the row of an event."""
        view = self.views(results, setting)[0]
        flows = pd.concat(flow_goodput(view)).rename(columns={"goodput_gbps": "value"})
        found = [flows.assign(mark="goodput (Gb/s)", part="goodput")]
        total = _sent_again(view)
        if total is not None:
            so_far = {"time_s": [0.0, *total.index / 1e9], "value": [0.0, *total], "mark": "sent again"}
            found.append(pd.DataFrame(so_far).assign(part=f"sent again, {size_text(total.iloc[-1])} in all"))
        events = _events(view)
        kinds = list(dict.fromkeys(events["event"]))[:KINDS_MAX]
        events = events[events["event"].isin(kinds)]
        marks = {
            "time_s": events["t_ns"] / 1e9,
            "value": events["event"].map(kinds.index),
            "event": events["event"],
        }
        marks |= {"mark": events["event"].isin(HARMFUL).map({True: "harm", False: "step"})}
        found.append(pd.DataFrame(marks | {"line": events["flow_id"], "part": "events"}))
        return pd.concat(found)

    def finish(self, axes: list[Axes], results: Results) -> None:
        data = self.data(results)
        ends_s = data.groupby("series")["time_s"].max()
        for axis in axes:
            own = data[data["panel"] == axis.get_label()]
            axis.set_xlim(0, ends_s[own["series"].iloc[0]])
            kinds = list(dict.fromkeys(own["event"].dropna()))
            if kinds:
                axis.set_yticks(range(len(kinds)), [plain(kind.replace("_", " "), 18) for kind in kinds])
                axis.set(ylabel="event", ylim=(len(kinds) - 0.5, -0.5))
                continue
            axis.set(ylabel=own["mark"].iloc[0], ylim=(0, 1.1 * own["value"].max() or 1.0))
            if own["mark"].iloc[0] == "sent again":
                axis.yaxis.set_major_formatter(
                    FuncFormatter(lambda size, _: size_text(size) if size else "0")
                )

    def words(self, results: Results, setting: Setting) -> str:
        view = self.views(results, setting)[0]
        parts = [
            f"{kind} {counted(len(rows), 'time')}, first at {duration_text(int(rows['t_ns'].min()))}"
            for kind, rows in _events(view).groupby("event", sort=False)
        ]
        again = spoken_text(results, setting, "retransmitted_share")
        return "; ".join([*parts, f"{again} of the payload was retransmitted"])


def _events(view: CellView) -> pd.DataFrame:
    events = view.table("events")
    assert events is not None, "only cells with events are drawn"
    events = events[~events["event"].isin(TURNS)]
    return events.sort_values("t_ns", kind="stable").astype({"event": str, "flow_id": str})


def _sent_again(view: CellView) -> "pd.Series[float] | None":
    """Return the retransmitted payload so far, by end of interval (ns); None if it was not sampled."""
    rows = view.deliveries
    if rows is None or rows["retransmitted_bytes"].isna().any():
        return None
    return rows.groupby("t_ns")["retransmitted_bytes"].sum().cumsum().astype(float)
