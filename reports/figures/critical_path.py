"""Figure: transfers that wait for each other, by receiving host, and the chain that ended last."""

from typing import ClassVar, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from rogue.reports.cells.transfers import Waits, natural
from rogue.reports.cells.view import CellView
from rogue.reports.drawing.panels import panels, plain
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.metrics.waiting import waits
from rogue.reports.quantities import counted, duration_text
from rogue.reports.results import Results, Setting
from rogue.reports.transport_styles import INK

ROWS_NAMED_MAX: Final = 16
# A chain of hops is told in words up to this many.
HOPS_TOLD_MAX: Final = 6


class CriticalPath(ReportFigure):
    """Per setting a row for each receiving host, a line for each transfer; the first repetition."""

    title: ClassVar = "Transfers that wait for others, and the critical path"
    needs: ClassVar = ("flows",)
    caption: ClassVar = (
        "Each row is a receiving host, each pale line a transfer to it, from its start to the arrival of its"
        " last byte; lines of transfers at the same time lie on each other. The dark line is the critical"
        " path: the transfer that arrived last, the last one that it waited for, and so on back to one that"
        " waited for none. Gaps in it are computing, or waiting for the connection. A dot is the instant from"
        " which a host had all that it was sent. The first repetition of each setting is drawn."
    )

    def usable(self, view: CellView) -> bool:
        """Return whether transfers waited for each other, and arrived."""
        found = waits(view)
        return found is not None and found.is_complete

    @property
    def missing(self) -> str:
        """Return the sentence that stands in the figure’s place if no cell can be drawn."""
        return "In no finished cell did all transfers that wait for others arrive (flows.parquet)."

    def draw(self, results: Results) -> Figure:
        """Draw the rows of each setting."""
        shown = self.shown(results)
        figure, axes = panels([setting.title for setting in shown], 2, share="none", legend=False)
        for axis, setting in zip(axes, shown, strict=True):
            _draw(axis, self._waits(results, setting), setting.style.colour)
        return figure

    def describe(self, results: Results) -> str:
        """Say how long the whole took, what the chain was, and who was last by how much."""
        return " ".join(
            f"{setting.title}: {_said(self._waits(results, setting))}" for setting in self.shown(results)
        )

    def _waits(self, results: Results, setting: Setting) -> Waits:
        found = waits(self.views(results, setting)[0])
        assert found is not None, "only cells in which something waited are drawn"
        return found


def _draw(axis: Axes, found: Waits, colour: str) -> None:
    last_ns = found.last_of_hosts()
    hosts = sorted(last_ns, key=natural)
    rows = {host: row for row, host in enumerate(hosts)}
    row = np.array([rows[str(host)] for host in found.destination], dtype=np.float64)
    start_ms, end_ms = ((each - found.first_ns) / 1e6 for each in (found.start_ns, found.arrived_ns))
    axis.plot(*_pieces(start_ms, end_ms, row), color=colour, alpha=0.35, linewidth=2.2, solid_capstyle="butt")
    path = list(found.critical)
    times = np.column_stack((start_ms[path], end_ms[path])).ravel()
    axis.plot(times, np.repeat(row[path], 2), color=INK, linewidth=1.1)
    done_ms = [(last_ns[host] - found.first_ns) / 1e6 for host in hosts]
    axis.plot(done_ms, range(len(hosts)), linestyle="none", marker="o", markersize=3.5, color=INK)
    step = -(-len(hosts) // ROWS_NAMED_MAX)
    axis.set_yticks(range(0, len(hosts), step), [plain(host, 8) for host in hosts[::step]])
    axis.set_ylim(len(hosts) - 0.5, -0.5)
    axis.set_xlim(0, 1.02 * float(end_ms.max()))
    axis.set_xlabel("time (ms)")
    axis.set_ylabel("received by")


def _pieces(
    start: NDArray[np.float64], end: NDArray[np.float64], row: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return one line with a break after each transfer."""
    breaks = np.full(len(row), np.nan)
    return np.column_stack((start, end, breaks)).ravel(), np.repeat(row, 3)


def _said(found: Waits) -> str:
    last_ns = found.last_of_hosts()
    last = max(last_ns, key=lambda host: last_ns[host])
    whole = duration_text(float(found.arrived_ns.max() - found.first_ns))
    late = duration_text(float(last_ns[last] - np.median(list(last_ns.values()))))
    hops = [str(found.destination[place]) for place in found.critical]
    way = ", ".join(hops) if len(hops) <= HOPS_TOLD_MAX else f"{', '.join(hops[:3])} and on to {hops[-1]}"
    chain = counted(len(hops), "transfer")
    straggler = f"{last} was last, {late} after the median host"
    return f"The whole took {whole}; the critical path has {chain}, to {way}; {straggler}."
