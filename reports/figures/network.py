"""Figures: queues at the bottleneck over time and at each port of the network, and the use of links."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from rogue.reports.cells.bottleneck import bottleneck_sentence, uses
from rogue.reports.cells.transfers import natural
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.drawing.layers import POINTS_MAX, SHADE_LEAST, Layer, colour_scale, draw_fields
from rogue.reports.drawing.panels import (
    COLUMNS_MAX,
    Share,
    columns_that_fit,
    is_narrow,
    panels,
    scaled_inches,
    turn_crowded_names,
)
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.figure import Plot
from rogue.reports.quantities import Unit, quantity_text, size_text
from rogue.reports.results import Results, Setting

PORTS_MAX: Final = 16
MANY_PANELS: Final = 5
PORTS_OF_MANY_MAX: Final = 8
"""Rows of each of many panels; with more the figure would be higher than a page."""
PANELS_NARROW_MAX: Final = 3
PORTS_MIN: Final = 2
COLUMN_INCHES_MAX: Final = 4.0
"""Height of a figure in a column of a paper."""
BINS: Final = 120
LINKS_MAX: Final = 24


class QueueOverTime(Plot):
    """One panel per transport and factor point, all repetitions together."""

    title: ClassVar = "Queue at the bottleneck over time"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "Bytes waiting at the switch port with the longest average queue, all repetitions together. Line:"
        " median of neighbouring samples; band: the shortest sample to the longest queue between samples."
        " The axis is logarithmic above 1 KB and the same in all panels."
    )
    x: ClassVar = Axis("time_s", "time", "seconds")
    y: ClassVar = Axis("queue_bytes", "bytes queued", "bytes")
    layers: ClassVar = (Layer("line", "median"),)
    share: ClassVar[Share] = "row"
    has_legend: ClassVar = False
    quoted: ClassVar = {"median": "queue_p50_bytes", "longest": "queue_max_bytes"}

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and view.whole_bottleneck_queue is not None

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return median and band of at most POINTS_MAX groups of samples at neighbouring instants."""
        queues = [view.whole_bottleneck_queue for view in self.views(results, setting)]
        queue = pd.concat([each for each in queues if each is not None])
        start_ns, end_ns = float(queue["t_ns"].min()), float(queue["t_ns"].max())
        count = min(POINTS_MAX, queue["t_ns"].nunique())
        number = (queue["t_ns"] - start_ns) // ((end_ns - start_ns) / count or 1.0)
        groups = queue.groupby(np.minimum(number, count - 1))
        low, high = groups["bytes"].min(), groups["max_bytes"].max()
        line = {"time_s": groups["t_ns"].mean() / 1e9, "queue_bytes": groups["bytes"].median()}
        return pd.DataFrame(line | {"low": low, "high": high, "mark": "median"})


class QueueMap(Plot):
    """One panel per setting: a row for each of the ports with the longest queues, a shade per interval."""

    title: ClassVar = "Queues of the network over time"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "A row is a switch port, with a stronger shade where more waits: the longest queue within each"
        f" {BINS}th of the time until nothing waits any more, first repetition. All panels have the ports"
        " that held most in all of them together, in that order. Shades are logarithmic."
    )
    x: ClassVar = Axis("time_s", "time", "seconds")
    y: ClassVar = Axis("port", "port", "names")
    layers: ClassVar = (Layer("shades"),)
    height_inches: ClassVar = 0.9
    row_inches: ClassVar = 0.22
    has_legend: ClassVar = False

    def usable(self, view: CellView) -> bool:
        queues = view.table("queues")
        return queues is not None and queues.loc[queues["max_bytes"] > 0, "port"].nunique() > 1

    def shown(self, results: Results) -> list[Setting]:
        """Return the settings of few panels in a column of a paper."""
        shown = super().shown(results)
        return shown[:PANELS_NARROW_MAX] if is_narrow() and not self.panel else shown

    def omission(self, results: Results) -> str:
        views = {each.title: self.views(results, each)[0] for each in self.shown(results)}
        named = "; ".join(f"{title}: {bottleneck_sentence(view)}" for title, view in views.items())
        longest = size_text(float(self.data(results)["value"].max()))
        return f" The strongest is {longest}. {named}.{super().omission(results)}"

    def arrangement(self, results: Results) -> tuple[int, Share]:
        return 2 if len(self.shown(results)) < MANY_PANELS else COLUMNS_MAX, "all"

    def finish(self, axes: list[Axes], results: Results) -> None:
        """Add the scale of the shades."""
        norm = LogNorm(SHADE_LEAST, max(float(self.data(results)["value"].max()), 2 * SHADE_LEAST))
        colour_scale(axes, norm, size_text, "longest queue")

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return the longest queue of each port in each interval, which ends at `time_s`."""
        ports, queues = self._ports(results), self.views(results, setting)[0].table("queues")
        assert queues is not None, "only cells with queues are drawn"
        end_ns = float(queues.loc[queues["max_bytes"] > 0, "t_ns"].max())
        kept = queues[queues["port"].isin(ports) & (queues["t_ns"] <= end_ns)]
        bins = np.maximum(np.ceil(kept["t_ns"] / end_ns * BINS).astype("int64") - 1, 0)
        table = kept["max_bytes"].groupby([kept["port"].astype(str), bins]).max().unstack()
        full = pd.DataFrame(table).reindex(index=ports, columns=range(BINS)).ffill(axis=1).fillna(0.0)
        full.columns = pd.Index((np.arange(BINS) + 1) / BINS * end_ns / 1e9)
        full = full.rename_axis(index="port", columns="time_s").reset_index()
        rows = full.melt(id_vars="port", value_name="value")
        return rows.sort_values("port", key=lambda column: column.map(ports.index), kind="stable")

    def rows(self, results: Results) -> pd.DataFrame:
        rows = super().rows(results)
        return rows.assign(most=rows["value"].max())

    def words(self, results: Results, setting: Setting) -> str:
        data = self.data(results)
        longest = data[data["panel"] == setting.title].groupby("port", sort=False)["value"].max()
        return f"longest queues {', '.join(f'{port} {size_text(size)}' for port, size in longest.items())}"

    def _ports(self, results: Results) -> list[str]:
        """Return the ports with the most queued bytes in all settings together."""
        shown = self.shown(results)
        panels = min(len(shown), 1) if self.panel else len(shown)
        waiting = pd.concat([_waiting(self.views(results, setting)[0]) for setting in shown])
        together = waiting.groupby(level=0, sort=False).sum().sort_values(ascending=False, kind="stable")
        most = PORTS_MAX if panels < MANY_PANELS else PORTS_OF_MANY_MAX
        rows = -(-panels // columns_that_fit(self.arrangement(results)[0]))
        if is_narrow():
            room = COLUMN_INCHES_MAX / scaled_inches(1.0) / rows - self.height_inches
            most = max(PORTS_MIN, min(most, int(room / self.row_inches)))
        return [str(port) for port in together[together > 0].index[:most]]


@once_per_cell
def _waiting(view: CellView) -> "pd.Series[float]":
    queues = view.table("queues")
    assert queues is not None, "only cells with queues are drawn"
    return queues.groupby(queues["port"].astype(str))["max_bytes"].sum()


class LinkUse(Plot):
    """One panel per factor point: a row for each link, a column for each transport."""

    title: ClassVar = "Use of the links between switches"
    needs: ClassVar = ("counters", "flows")
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "A row is a link in one direction, a column a transport, and the number how much of the link’s rate"
        " was sent on average, in % with all headers, from the start of the first transfer to the end of the"
        " last; a stronger shade is busier. Neighbouring rows of one switch are the links that it could"
        f" choose from. At most {LINKS_MAX} links, the busiest; mean over repetitions."
    )
    missing: ClassVar = (
        "No finished cell has links between switches whose bytes were counted (counters.parquet)."
    )

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and len(uses(view)) > 1

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        views, links = self.views(results, setting), self._links(results)
        means = [100 * float(np.mean([uses(view).get(link, np.nan) for view in views])) for link in links]
        return pd.DataFrame({"link": links, "use_percent": means})

    def draw(self, results: Results) -> Figure:
        data, links = self.data(results), self._links(results)
        points = list(dict.fromkeys(data["panel"]))
        transports = data.groupby("panel")["series"].nunique().max()
        columns = COLUMNS_MAX if transports <= 3 else 1
        figure, axes = panels(points, columns, share="none", height_inches=1.0 + 0.22 * len(links))
        for axis, point in zip(axes, points, strict=True):
            own = data[data["panel"] == point]
            names = list(dict.fromkeys(own["series"]))
            grid = own.pivot(index="link", columns="series", values="use_percent").loc[links, names]
            draw_fields(axis, grid, lambda percent: f"{percent:.0f}", Normalize(0, 100))
            axis.set(xlabel="transport", ylabel="link")
        colour_scale(axes, Normalize(0, 100), lambda percent: f"{percent:.0f} %", "of the rate")
        turn_crowded_names(figure)
        return figure

    def words(self, results: Results, setting: Setting) -> str:
        use = self.lines(results, setting).set_index("link")["use_percent"].dropna() / 100
        if use.empty:
            return "none of these links"
        most, least = int(use.argmax()), int(use.argmin())
        ends = (f"{use.index[at]} {quantity_text(float(use.iloc[at]), Unit.PERCENT)}" for at in (most, least))
        return "most used {}, least used of these {}".format(*ends)

    def _links(self, results: Results) -> list[str]:
        busiest: dict[str, float] = {}
        for setting in self.shown(results):
            for view in self.views(results, setting):
                for link, share in uses(view).items():
                    busiest[link] = max(share, busiest.get(link, 0.0))
        return sorted(sorted(busiest, key=lambda link: -busiest[link])[:LINKS_MAX], key=natural)
