"""Figure: what the traffic costs the processors at both of its ends."""

from typing import ClassVar, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.marks import Values
from rogue.reports.drawing.panels import legend_above, panels
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import Unit, quantity_text
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.transport_styles import INK

# A client asks for the transfers, a server's memory is at their other end; other hosts only probe.
ROLES: Final = ("client", "server")
GROUP_WIDTH: Final = 0.8


class CpuLoad(ReportFigure):
    """A panel per factor point: for clients and servers a bar per transport, as in RoGUE's figure 6."""

    title: ClassVar = "Processor time at both ends"
    needs: ClassVar = ("cpu", "flows")
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Processor time of a host while the traffic lasts, all processes together, as a percentage of one"
        " core: mean over the hosts of each kind and over the repetitions; the line spans the repetitions. A"
        " client posts the verbs (with READ the receiver of the data), a server is at the other end. Whatever"
        " else runs on the host is in it: the recording itself, and a NIC that is software."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether hosts at both ends were recorded."""
        return super().usable(view) and all(loads.size for loads in _loads(view).values())

    def draw(self, results: Results) -> Figure:
        """Draw the bars."""
        points = settings_by_point(self.shown(results))
        figure, axes = panels(list(points), 2, share="all")
        for axis, settings in zip(axes, points.values(), strict=True):
            for number, setting in enumerate(settings):
                self._draw_bars(axis, results, setting, number, len(settings))
            axis.set_xticks(range(len(ROLES)), ROLES)
            axis.set_xlabel("end of the flow")
            axis.set_ylabel("% of one core")
            axis.set_xlim(-0.5, len(ROLES) - 0.5)
        axes[0].set_ylim(0, 1.06 * max(float(axis.dataLim.ymax) for axis in axes))
        legend_above(figure, axes)
        return figure

    def describe(self, results: Results) -> str:
        """Say both means of each setting."""
        sentences = []
        for setting in self.shown(results):
            means = [
                f"{role} {quantity_text(float(self._per_run(results, setting, role).mean()), Unit.PERCENT)}"
                for role in ROLES
            ]
            sentences.append(f"{setting.title}: {', '.join(means)} of one core.")
        return " ".join(sentences)

    def _draw_bars(self, axis: Axes, results: Results, setting: Setting, number: int, count: int) -> None:
        width = GROUP_WIDTH / count
        places = np.arange(len(ROLES)) - GROUP_WIDTH / 2 + (number + 0.5) * width
        runs = [100 * self._per_run(results, setting, role) for role in ROLES]
        style = setting.style
        axis.bar(
            places, [values.mean() for values in runs], 0.9 * width, color=style.colour, label=style.name
        )
        lows, highs = [values.min() for values in runs], [values.max() for values in runs]
        axis.vlines(places, lows, highs, color=INK, linewidth=1.2)

    def _per_run(self, results: Results, setting: Setting, role: str) -> Values:
        """Return the mean load of the hosts of one kind, one value per repetition."""
        return np.array([_loads(view)[role].mean() for view in self.views(results, setting)])


def _loads(view: CellView) -> dict[str, Values]:
    """Return the busy cores of each host while the traffic lasts, by what the host does."""
    flows, cpu = view.table("flows"), view.table("cpu")
    assert flows is not None, "only cells with flows are drawn"
    assert cpu is not None, "only cells with recorded hosts are drawn"
    is_read = flows["verb"].astype(str) == "read"
    source, destination = flows["src"].astype(str), flows["dst"].astype(str)
    ends = {"client": source.where(~is_read, destination), "server": destination.where(~is_read, source)}
    means = cpu.astype({"host": str}).groupby("host")["busy_cores"].mean()
    return {
        role: means[means.index.isin(set(hosts))].to_numpy(dtype=np.float64) for role, hosts in ends.items()
    }
