"""Figures: the goodput of each flow over time, as shares, and as a distribution."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.layers import MEDIAN, ONE_FLOW, POINTS_MAX, RULE, Layer, spread
from rogue.reports.drawing.panels import Share, plain
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.figure import Plot
from rogue.reports.metrics.goodput import flow_shares
from rogue.reports.quantities import duration_text, joined
from rogue.reports.results import Results, Setting, spoken_text
from rogue.reports.results.points import points_text
from rogue.reports.transport_styles import ALARM, INK
from rogue.workloads.records import TransferStatus

FLOWS_MAX: Final = 64
"""More lines would look alike."""
NAMES_MAX: Final = 16
"""More names do not fit below an axis; `flow_spread` draws such flows."""


class ThroughputOverTime(Plot):
    """One panel per transport and factor point; lines: the first repetition; band: all repetitions."""

    title: ClassVar = "Throughput of each flow over time"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Payload delivered in order at the receiver. Each thin line is one flow of the first repetition. The"
        " thick line is the median of all flows of all repetitions, the band reaches from the least to the"
        " largest of them. The dashed line is the ideal share, the bottleneck’s payload rate divided by the"
        " number of flows; where flows come and go it steps with the number of those that have work. Lines"
        " that stay close to it share the port evenly; a cross marks the moment at which a queue pair of the"
        " first repetition failed."
    )
    missing: ClassVar = (
        f"No finished cell has samples of at most {FLOWS_MAX} flows (flows.parquet, throughput.parquet)"
        " that were not over before the first one."
    )
    x: ClassVar = Axis("time_s", "time", "seconds")
    y: ClassVar = Axis("goodput_gbps", "goodput (Gb/s)", "from zero")
    layers: ClassVar = (
        MEDIAN,
        ONE_FLOW,
        Layer("steps", "ideal share", INK, RULE),
        Layer("points", "connection failed", ALARM, {"marker": "X", "markersize": 7, "clip_on": False}),
    )
    share: ClassVar[Share] = "row"
    quoted: ClassVar = {
        "all flows together": "aggregate_bps",
        "10th percentile of flow intervals, of the ideal share": "interval_goodput_p10_share",
        "failed queue pairs": "failed_queue_pairs",
    }

    def usable(self, view: CellView) -> bool:
        has_samples = view.deliveries is not None and not view.was_over_at_once
        return super().usable(view) and has_samples and len(view.flow_ids) <= FLOWS_MAX

    def omission(self, results: Results) -> str:
        widths_ns = {drawn_width_ns(self.views(results, setting)[0]) for setting in self.shown(results)}
        averages = f" Averages over {joined([duration_text(each) for each in sorted(widths_ns)])}."
        crowded = [
            setting
            for setting in results.measured_settings
            if any(len(view.flow_ids) > FLOWS_MAX for view in results.views_of(setting))
        ]
        if not crowded:
            return averages + super().omission(results)
        named = points_text(crowded) if crowded[0].factors else joined([each.title for each in crowded])
        hidden = f" Not drawn, with more than {FLOWS_MAX} flows: {named}."
        return averages + super().omission(results) + hidden

    def arrangement(self, results: Results) -> tuple[int, Share]:
        columns, share = super().arrangement(results)
        return columns, "none" if len({each.transport for each in self.shown(results)}) == 1 else share

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        """Return the flows of the first repetition, and the spread over all of them."""
        views = self.views(results, setting)
        first, *others = [flow_goodput(view) for view in views]
        found = [*first, _ideal_share(views[0]), _failures(views[0])]
        together = [line for lines in (first, *others) for line in lines]
        if len(together) > 1:  # one line needs no band
            found.append(spread(pd.concat(together), "goodput_gbps"))
        return pd.concat([rows for rows in found if len(rows)])


def drawn_width_ns(view: CellView) -> int:
    """Return the averaging time of goodput: 1, 2, 5, 10 ... samples, so that POINTS_MAX cover the run."""
    rows = view.deliveries
    assert rows is not None, "only cells with samples are drawn"
    sample_ns, end_ns = int(rows["interval_ns"].max()), int(rows["t_ns"].max())
    decade_ns = sample_ns
    while end_ns > 10 * decade_ns * POINTS_MAX:
        decade_ns *= 10
    return next(step * decade_ns for step in (1, 2, 5, 10) if end_ns <= step * decade_ns * POINTS_MAX)


def flow_goodput(view: CellView) -> list[pd.DataFrame]:
    """Return a line per flow (`time_s`, `goodput_gbps`) while it had work.

    The times are the middles of the averaging intervals.
    """
    rows = view.deliveries
    assert rows is not None, "only cells with samples are drawn"
    end_ns, width_ns = int(rows["t_ns"].max()), drawn_width_ns(view)
    edges_ns = np.append(np.arange(0, end_ns, width_ns), end_ns)
    goodput = view.delivered_between(edges_ns) * 8 / np.diff(edges_ns)  # bits per ns are Gb/s
    middles_ns = (edges_ns[:-1] + edges_ns[1:]) / 2
    found = []
    for (flow_id, (start_ns, done_ns)), heights in zip(view.spans.items(), goodput, strict=True):
        is_busy = (middles_ns >= start_ns - width_ns) & (middles_ns <= done_ns + width_ns)
        line = {"time_s": middles_ns[is_busy] / 1e9, "goodput_gbps": heights[is_busy]}
        found.append(pd.DataFrame(line).assign(mark=ONE_FLOW.mark, line=flow_id))
    return found


def _ideal_share(view: CellView) -> pd.DataFrame:
    """Return the ideal share: one line, or one that steps with the number of flows that have work."""
    ideal_bps = view.entry.number("ideal_goodput_bps")
    if not ideal_bps or not view.levels:
        return pd.DataFrame()
    counts = [len(level.flow_ids) for level in view.levels]
    edges_s = [level.start_ns / 1e9 for level in view.levels] + [view.levels[-1].end_ns / 1e9]
    if view.is_simultaneous:
        counts, edges_s = [len(view.flow_ids)], [edges_s[0], edges_s[-1]]
    shares = [ideal_bps / count / 1e9 for count in [*counts, counts[-1]]]
    return pd.DataFrame({"time_s": edges_s, "goodput_gbps": shares, "mark": "ideal share"})


def _failures(view: CellView) -> pd.DataFrame:
    flows = view.table("flows")
    assert flows is not None, "only cells with flows are drawn"
    failed = flows[(flows["status"] == TransferStatus.ERROR) & flows["end_ns"].notna()]
    moments_ns = failed.groupby("flow_id", observed=True)["end_ns"].min().to_numpy()
    return pd.DataFrame({"time_s": moments_ns / 1e9, "goodput_gbps": 0.0, "mark": "connection failed"})


def _shares(view: CellView) -> pd.DataFrame:
    """Return the percentage of the ideal share of each flow, with its sending host if that is known."""
    flows, fractions = view.table("flows"), flow_shares(view)
    assert flows is not None and fractions is not None, "only cells with shares are drawn"
    sources = dict(zip(flows["flow_id"].astype(str), flows["src"].astype(str), strict=True))
    hosts = [plain(sources.get(flow_id) or flow_id, 12) for flow_id in view.flow_ids]
    return pd.DataFrame({"flow": list(view.flow_ids), "host": hosts, "share_percent": 100 * fractions})


class FlowShares(Plot):
    """One panel per setting: a mark per flow and repetition."""

    title: ClassVar = "What each flow got"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Each mark is one flow in one repetition: its goodput over the whole traffic as a percentage of"
        " the ideal share, by sending host. Marks of one host that lie apart are chance; hosts that lie"
        " apart in the same order in every repetition are favoured, by the control or by the testbed."
    )
    missing: ClassVar = (
        f"No finished cell has at most {NAMES_MAX} flows that share a port from the start (flows.parquet,"
        " throughput.parquet)."
    )
    x: ClassVar = Axis("host", "sending host")
    y: ClassVar = Axis("share_percent", "% of ideal share", "from zero")
    layers: ClassVar = (Layer("points", "one repetition", look={"alpha": 0.75}), Layer("rule", "ideal share"))
    share: ClassVar[Share] = "row"

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and 1 < len(view.flow_ids) <= NAMES_MAX and flow_shares(view) is not None

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        ideal = pd.DataFrame({"share_percent": [100.0], "mark": "ideal share"})
        views = self.views(results, setting)
        rows = [_shares(view).assign(repetition=view.entry.repetition) for view in views]
        return pd.concat([pd.concat(rows).assign(mark="one repetition"), ideal])

    def words(self, results: Results, setting: Setting) -> str:
        shares = self.lines(results, setting).dropna(subset=["host"]).set_index("host")["share_percent"]
        least, most = shares.idxmin(), shares.idxmax()
        ends = f"{shares.min():.1f} % (from {least}) to {shares.max():.1f} % (from {most})"
        jain = spoken_text(results, setting, "jain")
        return f"flows get {ends} of the ideal share, Jain’s index {jain}"


class FlowSpread(Plot):
    """One panel per factor point, one row per transport: boxes that halve towards the ends."""

    title: ClassVar = "What each of many flows got"
    needs: ClassVar = ("flows", "throughput")
    panels_per_setting: ClassVar = 0
    caption: ClassVar = (
        "Goodput of each flow over the whole traffic as a percentage of the ideal share, the flows of all"
        " repetitions together. The line in the middle is the median, the widest box holds half of the flows;"
        " each narrower box holds half of the rest, and points are the few flows at the ends."
        " The closer all of it lies to the dashed line, the more evenly the flows shared the port."
    )
    missing: ClassVar = (
        f"No finished cell has more than {NAMES_MAX} flows that share a port from the start (flows.parquet,"
        " throughput.parquet)."
    )
    x: ClassVar = Axis("share_percent", "% of ideal share", "from zero")
    y: ClassVar = Axis("transport", "transport", "names")
    layers: ClassVar = (Layer("boxes", "flows"), Layer("rule", "ideal share"))
    columns: ClassVar = 1
    height_inches: ClassVar = 1.0
    row_inches: ClassVar = 0.34
    quoted: ClassVar = {
        "median flow, of the ideal share": "flow_median_share",
        "worst flow": "worst_flow_share",
    }

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and len(view.flow_ids) > NAMES_MAX and flow_shares(view) is not None

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        rows = pd.concat([_shares(view) for view in self.views(results, setting)])
        ideal = pd.DataFrame({"share_percent": [100.0], "mark": "ideal share"})
        return pd.concat([rows.assign(mark="flows", transport=plain(setting.style.name, 34)), ideal])
