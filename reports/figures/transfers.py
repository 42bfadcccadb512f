"""Figures: completion times of transfers, slowdowns by group and by size, and chains of transfers."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rogue.reports.cells.transfers import Waits, natural
from rogue.reports.cells.view import CellView
from rogue.reports.drawing.layers import Layer
from rogue.reports.drawing.look import Values, plain
from rogue.reports.drawing.panels import Share
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.distributions import Distribution
from rogue.reports.figures.figure import Plot
from rogue.reports.metrics.completion import counted as is_counted
from rogue.reports.metrics.completion import sizes_and_slowdowns, times_by_group, transfer_times_ns
from rogue.reports.metrics.statistics import nearest_rank
from rogue.reports.metrics.waiting import waits
from rogue.reports.quantities import Unit, counted, duration_text, quantity_text, readable, size_text
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.results.wording import spoken_text
from rogue.reports.transport_styles import INK

DISTRIBUTION_MIN: Final = 200
"""Fewer transfers have no distribution; the tables have their percentiles."""
GROUPS_MAX: Final = 6
CLASSES_MAX: Final = 10
CLASSES_MIN: Final = 3
"""Fewer sizes are the long and the short transfers of the completion times."""
TRANSFERS_MIN: Final = 50
"""Of each transport in each class, on average."""
PERCENTS: Final = (50, 95, 99)
HOSTS_NAMED_MAX: Final = 16
HOPS_NAMED_MAX: Final = 6


class CompletionTimes(Distribution):
    """Per factor point a panel for the long and one for the short transfers."""

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
    share: ClassVar[Share] = "none"

    def usable(self, view: CellView) -> bool:
        """Return whether the cell has enough transfers, which start whether or not others are done.

        Some of them must complete: otherwise there is no line.
        """
        taken_ns, wanted = transfer_times_ns(view, None), is_counted(view)
        if view.transfers is None or taken_ns is None or len(taken_ns) < DISTRIBUTION_MIN:
            return False
        has_connection_each = len(np.unique(view.transfers.flow[wanted])) == len(taken_ns)
        return bool(np.isfinite(taken_ns).any()) and (has_connection_each or not view.is_always_busy)

    def samples(self, results: Results, setting: Setting) -> dict[str, Values]:
        """Return the completion times of each class of sizes, infinite where a transfer did not complete."""
        found = {}
        for part in ("long transfers", "short transfers"):
            of_views = [transfer_times_ns(view, "long" in part) for view in self.views(results, setting)]
            found[part] = np.concatenate([taken_ns for taken_ns in of_views if taken_ns is not None])
        return {part: values for part, values in found.items() if np.isfinite(values).any()}

    def words(self, results: Results, setting: Setting) -> str:
        """Say count, median and 90th percentile of each class."""
        said = []
        for part, values in self.samples(results, setting).items():
            kind = part.split()[0]
            median, tail = (spoken_text(results, setting, f"{kind}_fct_p{n}_ns") for n in (50, 90))
            done = f"{np.isfinite(values).sum()} of {len(values)} {part} completed"
            said.append(f"{done}, median {median}, 90th percentile {tail}")
        return "; ".join(said)


class GroupSlowdowns(Distribution):
    """Per factor point a panel for each group of a trace."""

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
    share: ClassVar[Share] = "none"

    def usable(self, view: CellView) -> bool:
        """Return whether a trace named groups, and some of their transfers completed."""
        return any(np.isfinite(values).any() for values, _ in times_by_group(view).values())

    def samples(self, results: Results, setting: Setting) -> dict[str, Values]:
        """Return the slowdowns of the largest groups, infinite where a transfer did not complete."""
        return {group: values for group, (values, _) in self._groups(results, setting).items()}

    def words(self, results: Results, setting: Setting) -> str:
        """Say count, mean completion time, median and 99th percentile of each group."""
        said = []
        for group, (values, taken_ns) in self._groups(results, setting).items():
            median, tail = (quantity_text(nearest_rank(values, n), Unit.RATIO) for n in (50, 99))
            done = f"{counted(int(np.isfinite(values).sum()), 'transfer')} of {len(values)} completed"
            mean = readable(float(taken_ns.mean()), Unit.TIME)
            said.append(
                f"{group}: {done}, completion time {mean} on average, slowdown {median} at the median, 99th"
                f" percentile {tail}"
            )
        return "; ".join(said)

    def _groups(self, results: Results, setting: Setting) -> dict[str, tuple[Values, Values]]:
        """Return slowdowns and completion times of the groups that are largest in all settings, by name."""
        counts: dict[str, int] = {}
        for each in self.settings(results):
            for view in self.views(results, each):
                for group, (values, _) in times_by_group(view).items():
                    counts[group] = counts.get(group, 0) + len(values)
        groups = [times_by_group(view) for view in self.views(results, setting)]
        return {
            plain(name, 30): (
                np.concatenate([of_view[name][0] for of_view in groups if name in of_view]),
                np.concatenate([of_view[name][1] for of_view in groups if name in of_view]),
            )
            for name in sorted(sorted(counts, key=lambda name: -counts[name])[:GROUPS_MAX])
            if any(name in of_view for of_view in groups)
        }


class SizeSlowdowns(Plot):
    """Per factor point a panel for each percentile, one line per transport, a point per class of sizes."""

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
        """Return whether transfers of many sizes completed."""
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

    def words(self, results: Results, setting: Setting) -> str:
        """Say the percentiles of the smallest and the largest class."""
        lines = self.lines(results, setting)
        ends = []
        for size_bytes in (lines["size_bytes"].min(), lines["size_bytes"].max()):
            ratios = lines.loc[lines["size_bytes"] == size_bytes, "slowdown"]
            said = ", ".join(quantity_text(ratio, Unit.RATIO) for ratio in ratios)
            ends.append(f"{size_text(size_bytes)} {said}")
        percents = " and ".join(f"p{percent}" for percent in PERCENTS)
        return f"{percents} of transfers around {'; around '.join(ends)}"

    def _transfers(self, results: Results, setting: Setting) -> list[Values]:
        """Return the sizes and slowdowns of all repetitions."""
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
    """Per setting a row for each receiving host, a line for each transfer; the first repetition."""

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

    def usable(self, view: CellView) -> bool:
        """Return whether transfers waited for each other, and arrived."""
        found = waits(view)
        return found is not None and found.is_complete

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return a span per transfer, the ends of those of the critical path, and a row per host."""
        found = self._waits(results, setting)
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
        """Name a part of many hosts."""
        for axis in axes:
            ticks, names = axis.get_yticks(), [label.get_text() for label in axis.get_yticklabels()]
            step = -(-len(names) // HOSTS_NAMED_MAX)
            axis.set_yticks(ticks[::step], [plain(name, 8) for name in names[::step]])

    def words(self, results: Results, setting: Setting) -> str:
        """Say how long the whole took, what the chain was, and which host was last by how much."""
        found = self._waits(results, setting)
        last_ns = found.last_of_hosts()
        last = max(last_ns, key=lambda host: last_ns[host])
        whole = duration_text(float(found.arrived_ns.max() - found.first_ns))
        late = duration_text(float(last_ns[last] - np.median(list(last_ns.values()))))
        hops = [str(found.destination[place]) for place in found.critical]
        path = (
            ", ".join(hops) if len(hops) <= HOPS_NAMED_MAX else f"{', '.join(hops[:3])} and on to {hops[-1]}"
        )
        return (
            f"The whole took {whole}; the critical path has {counted(len(hops), 'transfer')}, to {path};"
            f" {last} was last, {late} after the median host"
        )

    def _waits(self, results: Results, setting: Setting) -> Waits:
        found = waits(self.views(results, setting)[0])
        assert found is not None, "only cells in which something waited are drawn"
        return found
