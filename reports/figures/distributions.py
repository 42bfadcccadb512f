"""Figures: cumulative distributions of probes, of queues, and of what agents estimate beside the truth."""

from typing import ClassVar, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rogue.reports.cells.view import CellView
from rogue.reports.drawing.layers import Layer, distribution
from rogue.reports.drawing.panels import Share, Values
from rogue.reports.drawing.scales import Axis
from rogue.reports.figures.figure import Plot
from rogue.reports.metrics.delay import own_probes, probe_rtts_ns
from rogue.reports.results import Results, Setting, lost_text, value_text
from rogue.reports.transport_styles import INK, MUTED


class Distribution(Plot):
    """Per factor point a panel for each part of the samples, with one line per transport."""

    panels_per_setting: ClassVar = 0
    layers: ClassVar = (Layer("steps"),)
    median: ClassVar[str] = ""
    """The metric that the legend of a single panel quotes."""

    def samples(self, results: Results, setting: Setting) -> dict[str, Values]:
        """Return the samples of all repetitions by part; a lost sample is infinite."""
        raise NotImplementedError

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        parts = self.samples(results, setting).items()
        return pd.concat([distribution(values, self.x.column).assign(part=part) for part, values in parts])

    def legend_names(self, results: Results) -> dict[str, str]:
        """Return the names of transports with their medians, or with the lost share if there is no median."""
        names = {}
        for setting in self.shown(results) if self.median else []:
            mean, lost = results.mean(setting, self.median), lost_text(results, setting, self.median)
            is_lost = lost and mean is not None and not mean.exists
            text = lost if is_lost else f"median {value_text(results, setting, self.median)}"
            names[setting.style.name] = f"{setting.style.name} ({text})"
        return names


class ProbeLatency(Distribution):
    """One panel per factor point."""

    title: ClassVar = "Latency of a probe beside the traffic"
    needs: ClassVar = ("latency",)
    caption: ClassVar = (
        "A host that sends no bulk traffic posts a WRITE of 0 bytes to the receiver at regular instants, also"
        " while earlier ones are in flight. So it meets the queue that the traffic builds, and the"
        " timeouts of probes that were dropped. Height: fraction of probes that took at most the time below;"
        " further left is better. A line that ends below 1 shows probes that did not complete. The time axis"
        " is logarithmic. All repetitions together."
    )
    x: ClassVar = Axis("latency_ns", "probe: posted to completion", "log ns")
    y: ClassVar = Axis("fraction", "fraction of probes", "fraction")
    median: ClassVar = "probe_p50_ns"
    quoted: ClassVar = {"median": "probe_p50_ns", "99th percentile": "probe_p99_ns"}

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and own_probes(view) is not None

    def samples(self, results: Results, setting: Setting) -> dict[str, Values]:
        return {"": np.concatenate([probe_rtts_ns(view) for view in self.views(results, setting)])}


class QueueDistribution(Distribution):
    """One panel per factor point."""

    title: ClassVar = "Queue at the bottleneck, distribution"
    needs: ClassVar = ("queues",)
    caption: ClassVar = (
        "Height: fraction of samples in which at most this many bytes waited; further left is better. Samples"
        " are taken at fixed instants while all flows have work, or while transfers arrive; all repetitions"
        " together. The axis is logarithmic above 1 KB."
    )
    x: ClassVar = Axis("queue_bytes", "bytes queued", "bytes")
    y: ClassVar = Axis("fraction", "fraction of samples", "fraction")
    median: ClassVar = "queue_p50_bytes"
    quoted: ClassVar = {"median": "queue_p50_bytes", "99th percentile": "queue_p99_bytes"}

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and view.bottleneck_queue is not None

    def samples(self, results: Results, setting: Setting) -> dict[str, Values]:
        queues = [view.bottleneck_queue for view in self.views(results, setting)]
        return {"": np.concatenate([queue["bytes"].to_numpy(float) for queue in queues if queue is not None])}


RATES: Final = {
    "goodput at the receiver": "goodput_bps",
    "cwnd / RTT": "cwnd_over_rtt_bps",
    "rate limit": "limiter_bps",
}


class RateEstimate(Plot):
    """One panel per setting: distributions of goodput, of cwnd / RTT and of the rate limit."""

    title: ClassVar = "Delivered rate, and the rate that the agent estimates"
    needs: ClassVar = ("flows", "throughput")
    caption: ClassVar = (
        "Over all flows and samples of all repetitions, per flow: payload that arrived, the agent’s own"
        " estimate cwnd / RTT, and the limit set in the NIC (which counts headers too). With a floor under"
        " the base RTT the estimate is the true rate times floor / RTT, so it lies left of the goodput"
        " whenever packets queue for longer than the floor."
    )
    missing: ClassVar = (
        "No finished cell has an agent’s estimate of its rate (throughput.parquet, cwnd_over_rtt_bps)."
    )
    x: ClassVar = Axis("rate_gbps", "per flow (Gb/s)", "from zero")
    y: ClassVar = Axis("fraction", "fraction of samples", "fraction")
    layers: ClassVar = (
        Layer("steps", "goodput at the receiver"),
        Layer("steps", "cwnd / RTT", INK, {"linestyle": "--"}),
        Layer("steps", "rate limit", MUTED, {"linestyle": ":"}),
        Layer("rule", "ideal share"),
    )

    def usable(self, view: CellView) -> bool:
        rows = view.deliveries
        if rows is None or view.was_over_at_once:
            return False
        return bool(rows["cwnd_over_rtt_bps"].notna().any())

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        views = self.views(results, setting)
        samples = pd.concat([view.samples for view in views if view.samples is not None])
        rates = {mark: samples[column].dropna().to_numpy(float) for mark, column in RATES.items()}
        lines = [
            distribution(values / 1e9, "rate_gbps").assign(mark=mark)
            for mark, values in rates.items()
            if len(values)
        ]
        view = views[0]
        if view.ideal_share_bps and view.is_simultaneous:
            share = {"rate_gbps": [view.ideal_share_bps / 1e9], "mark": "ideal share"}
            lines.append(pd.DataFrame(share))
        return pd.concat(lines)


class RttEstimate(Plot):
    """Per setting two panels: both distributions, and the distribution of their difference."""

    title: ClassVar = "Round-trip time: estimate and truth"
    needs: ClassVar = ("rtt",)
    quoted: ClassVar = {"median estimate": "rtt_p50_ns", "median difference": "rtt_error_p50_ns"}
    panels_per_setting: ClassVar = 2
    caption: ClassVar = (
        "Left: cumulative distributions of the agent’s accepted estimates and of the simulator’s truth"
        " for the same batches (completion minus the moment at which the last byte left the NIC), which"
        " the agent never sees. Right: estimate minus truth, batch by batch; a line that rises at zero is"
        " an unbiased estimator. All repetitions together."
    )
    missing: ClassVar = (
        "No finished cell has RTT samples of which the truth is known (rtt.parquet, true_rtt_ns)."
    )
    x: ClassVar = Axis("time_us", "round-trip time (µs)")
    y: ClassVar = Axis("fraction", "fraction of samples", "fraction")
    layers: ClassVar = (
        Layer("steps", "truth", MUTED, {"linestyle": "--"}),
        Layer("steps", "estimate"),
        Layer("steps", "estimate − truth"),
        Layer("rule", "no error"),
    )
    share: ClassVar[Share] = "none"

    def usable(self, view: CellView) -> bool:
        return super().usable(view) and len(_known(view)) > 0

    def lines(self, results: Results, setting: Setting) -> pd.DataFrame:
        estimate, truth = np.concatenate([_known(view) for view in self.views(results, setting)]).T / 1e3
        drawn = {"truth": truth, "estimate": estimate, "estimate − truth": estimate - truth}
        found = [
            distribution(values, "time_us").assign(
                mark=mark, part="error" if "−" in mark else "estimate and truth"
            )
            for mark, values in drawn.items()
        ]
        return pd.concat([*found, pd.DataFrame({"time_us": [0.0], "mark": "no error", "part": "error"})])

    def finish(self, axes: list[Axes], results: Results) -> None:
        """Cut off the few samples at the ends, and label the error."""
        data = self.data(results)
        inside = data[data["fraction"].between(0.003, 0.997)].groupby("panel")["time_us"]
        for axis in axes:
            is_error, own = str(axis.get_label()).endswith(": error"), inside.get_group(str(axis.get_label()))
            low, high, least = float(own.min()), float(own.max()), 3.0 if is_error else -np.inf
            margin = max(1.0, 0.08 * (high - low))
            axis.set_xlim(min(low - margin, -least), max(high + margin, least))
            if is_error:
                axis.set_xlabel("estimate − truth (µs)")


def _known(view: CellView) -> Values:
    """Return estimate and truth (ns) of the accepted samples with a known truth."""
    samples = view.table("rtt")
    if samples is None:
        return np.empty((0, 2))
    known = samples[samples["accepted"] & samples["true_rtt_ns"].notna()]
    return known[["rtt_ns", "true_rtt_ns"]].to_numpy(dtype=np.float64)
