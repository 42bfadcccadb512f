"""Figures: completion times of transfers, slowdowns by group and by size, and critical paths."""

from collections import Counter
from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rogue.reports.cells.transfers import natural
from rogue.reports.cells.view import CellView
from rogue.reports.drawing.layers import Layer
from rogue.reports.drawing.panels import Share, Values, plain
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.distributions import Distribution
from rogue.reports.figures.figure import Plot
from rogue.reports.metrics.completion import counted as is_counted
from rogue.reports.metrics.completion import sizes_and_slowdowns, times_by_group, transfer_times_ns
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.metrics.waiting import waits
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.transport_styles import INK

DISTRIBUTION_MIN: Final = 200
"""Smallest number of transfers with a distribution; the tables have percentiles of fewer."""
GROUPS_MAX: Final = 6
CLASSES_MAX: Final = 10
CLASSES_MIN: Final = 3
"""With fewer sizes, the completion times of long and short transfers show the same."""
TRANSFERS_MIN: Final = 50
"""Mean number of transfers of each transport in each class."""
PERCENTS: Final = (50, 95, 99)
HOSTS_NAMED_MAX: Final = 16


class CompletionTimes(Distribution):
    """A panel per factor point for the long transfers, and one for the short ones."""

    title: ClassVar = "Completion times of the transfers"
    needs: ClassVar = ("flows",)
    caption: ClassVar = (
        "Height: fraction of the transfers that completed within the time below; further left is better. Long"
        " transfers have at least 64 KiB, short ones less. A line that ends below 1 shows transfers that did"
        " not complete. The time axis is logarithmic. All repetitions together."
    )
    missing: ClassVar = (
        f"No finished cell has {DISTRIBUTION_MIN} transfers that start at their own times and complete"
        " (flows.parquet)."
    )
    x: ClassVar = Axis("completion_time_ns", "completion time", "log ns")
    y: ClassVar = Axis("fraction", "fraction of transfers", "fraction")
    quoted: ClassVar = {
        "long transfers, median": "long_fct_p50_ns",
        "90th percentile": "long_fct_p90_ns",
        "short transfers, median": "short_fct_p50_ns",
        "their 90th percentile": "short_fct_p90_ns",
    }

    def usable(self, view: CellView) -> bool:
        """True if enough transfers start independently of each other, and some complete."""
        taken_ns, wanted = transfer_times_ns(view, None), is_counted(view)
        if view.transfers is None or taken_ns is None or len(taken_ns) < DISTRIBUTION_MIN:
            return False
        has_connection_each = len(np.unique(view.transfers.flow[wanted])) == len(taken_ns)
        return bool(np.isfinite(taken_ns).any()) and (has_connection_each or not view.is_always_busy)

    def samples(self, results: Results, setting: Setting) -> dict[str, Values]:
        found = {}
        for part in ("long transfers", "short transfers"):
            of_views = [transfer_times_ns(view, "long" in part) for view in self.views(results, setting)]
            found[part] = np.concatenate([taken_ns for taken_ns in of_views if taken_ns is not None])
        return {part: values for part, values in found.items() if np.isfinite(values).any()}


class GroupSlowdowns(Distribution):
    """A panel per factor point and group of a trace."""

    title: ClassVar = "Slowdown by group of the trace"
    needs: ClassVar = ("flows",)
    caption: ClassVar = (
        "Height: fraction of a group’s transfers whose completion time was at most this multiple of that"
        " alone in the empty network; further left is better. A line that ends below 1 shows transfers that"
        f" did not complete. The axis is logarithmic. At most {GROUPS_MAX} groups, those with the most"
        " transfers; all repetitions together."
    )
    missing: ClassVar = "No finished cell has a trace with groups whose transfers complete (flows.parquet)."
    x: ClassVar = Axis("slowdown", "slowdown", "log ratio")
    y: ClassVar = Axis("fraction", "fraction of transfers", "fraction")
    columns: ClassVar = 3

    def usable(self, view: CellView) -> bool:
        return any(np.isfinite(values).any() for values, _ in times_by_group(view).values())

    def samples(self, results: Results, setting: Setting) -> dict[str, Values]:
        counts: Counter[str] = Counter()
        for each in self.settings(results):
            for view in self.views(results, each):
                counts.update({group: len(values) for group, (values, _) in times_by_group(view).items()})
        groups = [times_by_group(view) for view in self.views(results, setting)]
        return {
            plain(name, 30): np.concatenate([of_view[name][0] for of_view in groups if name in of_view])
            for name in sorted(name for name, _ in counts.most_common(GROUPS_MAX))
            if any(name in of_view for of_view in groups)
        }


class SizeSlowdowns(Plot):
    """A panel per factor point and percentile: a line per transport, a point per class of sizes."""

    title: ClassVar = "Slowdown by size of the transfers"
    needs: ClassVar = ("flows",)
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Height: the completion time as a multiple of that alone in the empty network, at the percentile in"
        f" the title; lower is better. Transfers are sorted by size into at most {CLASSES_MAX} classes with"
        " about the same number of transfers, the same for all lines of a panel; a point is at the median"
        " size of its class. It is missing where too many transfers of the class did not complete; of fewer"
        " than 100 the 99th percentile is the largest. Both axes are logarithmic. All repetitions together."
    )
    missing: ClassVar = (
        f"No finished cell has {CLASSES_MIN} classes of sizes with {TRANSFERS_MIN} transfers each"
        " (flows.parquet)."
    )
    x: ClassVar = Axis("size_bytes", "size of the transfer", "log bytes")
    y: ClassVar = Axis("slowdown", "slowdown", "log ratio")
    layers: ClassVar = (Layer("means"),)
    columns: ClassVar = len(PERCENTS)

    def usable(self, view: CellView) -> bool:
        sizes_bytes, ratios = sizes_and_slowdowns(view)
        return bool(np.isfinite(ratios).any()) and len(_starts(sizes_bytes, 1)) >= CLASSES_MIN

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return a row per percentile and class: median size, and slowdown if it is finite."""
        beside = settings_by_point(self.shown(results))[setting.factor_text]
        together = [self._transfers(results, each)[0] for each in beside]
        sizes_bytes, ratios = self._transfers(results, setting)
        classes = np.digitize(sizes_bytes, _starts(np.concatenate(together), len(together)))
        own = [classes == number for number in np.unique(classes)]
        rows = [
            (f"p{percent}", np.median(sizes_bytes[each]), nearest_rank(ratios[each], percent))
            for percent in PERCENTS
            for each in own
        ]
        frame = pd.DataFrame(rows, columns=["part", "size_bytes", "slowdown"])
        return frame.replace({"slowdown": np.inf}, np.nan)

    def _transfers(self, results: Results, setting: Setting) -> list[Values]:
        found = [sizes_and_slowdowns(view) for view in self.views(results, setting)]
        return [np.concatenate(values) for values in zip(*found, strict=True)]


def _starts(sizes_bytes: Values, transports: int) -> Values:
    """Return the smallest size of each class; classes have about the same number of transfers."""
    classes = min(CLASSES_MAX, len(sizes_bytes) // (TRANSFERS_MIN * transports))
    return (
        np.unique(np.quantile(sizes_bytes, np.arange(classes) / classes, method="nearest"))
        if classes
        else sizes_bytes[:0]
    )


class CriticalPath(Plot):
    """A row per setting and receiving host, a line per transfer; the first repetition."""

    title: ClassVar = "Transfers that wait for others, and the critical path"
    needs: ClassVar = ("flows",)
    caption: ClassVar = (
        "Each row is a receiving host, each pale line a transfer to it, from its start to the arrival of its"
        " last byte; lines of transfers at the same time lie on each other. The dark line is the critical"
        " path: the transfer that arrived last, the last one that it waited for, and so on back to one that"
        " waited for none. Gaps in it are computing, or waiting for the connection. A dot is the instant from"
        " which a host had received everything. The first repetition of each setting is drawn."
    )
    missing: ClassVar = "In no finished cell did all transfers that wait for others arrive (flows.parquet)."
    x: ClassVar = Axis("time_s", "time", "seconds")
    y: ClassVar = Axis("host", "received by", "names")
    layers: ClassVar = (
        Layer("spans", "transfer", look={"alpha": 0.35, "linewidth": 2.2}),
        Layer("line", "critical path", INK, {"linewidth": 1.1}),
        Layer("points", "a host has received everything", INK, {"marker": "o", "markersize": 4}),
    )
    share: ClassVar[Share] = "none"
    quoted: ClassVar = {
        "all transfers": "whole_ns",
        "transfers of the critical path": "critical_transfers",
        "last host after the median host": "straggler_ns",
    }

    def usable(self, view: CellView) -> bool:
        found = waits(view)
        return found is not None and found.is_complete

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return a span per transfer, the ends of those of the critical path, and a row per host."""
        found = waits(self.views(results, setting)[0])
        assert found is not None, "only cells in which transfers waited are drawn"
        ends = {"low": found.start_ns, "high": found.arrived_ns}
        spans = pd.DataFrame({side: (ns - found.first_ns) / 1e9 for side, ns in ends.items()})
        spans = spans.assign(
            host=[str(host) for host in found.destination], mark="transfer", time_s=spans["high"]
        )
        path = spans.iloc[np.repeat(list(found.critical), 2)]
        times_s = path[["low", "high"]].to_numpy()[::2].ravel()
        last = [(host, (end_ns - found.first_ns) / 1e9) for host, end_ns in found.last_of_hosts().items()]
        return pd.concat(
            [
                spans.iloc[sorted(range(len(spans)), key=lambda place: natural(spans["host"].iloc[place]))],
                path[["host"]].assign(mark="critical path", time_s=times_s),
                pd.DataFrame(last, columns=["host", "time_s"]).assign(mark="a host has received everything"),
            ]
        )

    def finish(self, axes: list[Axes], results: Results) -> None:
        """Name only some of many hosts."""
        for axis in axes:
            ticks, names = axis.get_yticks(), [label.get_text() for label in axis.get_yticklabels()]
            step = -(-len(names) // HOSTS_NAMED_MAX)
            axis.set_yticks(ticks[::step], [plain(name, 8) for name in names[::step]])
