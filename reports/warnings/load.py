"""Warnings about unloaded networks, short runs, and parameters beyond their published line rates."""

from typing import Final, NamedTuple

import numpy as np

from rogue.reports.cells.bottleneck import SENT, packets_of_flows
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.quantities import duration_text
from rogue.reports.results import Results, Setting, settings_by_point
from rogue.reports.warnings.warning import RunWarning, by_transport, some

IDLE_MAX: Final = 0.2
"""Share of the time in which a port may send nothing."""
RISE_MIN: Final = 1.1
"""Growth from the third to the last quarter of a run that counts as rising."""
FULL_SHARE: Final = 0.9
"""Of the ideal goodput; flows that carry more have arrived."""
RECOVERIES_MIN: Final = 10
RECOVERY: Final = "recovery_ns"
"""Fact of a cell: the time in which its slowest control grows from half of the fair share to the share."""
QUEUED_FRAMES_MAX: Final = 2
"""A queue of at most this many frames is that of packets that arrive together, not of congestion."""


def _is_saturated(view: CellView) -> bool:
    """True if all flows start together and always have data, and nothing is meant to stop them."""
    experiment = view.run.manifest.experiment
    return view.is_simultaneous and not experiment.get("faults") and not _has_offered_rate(experiment)


def _has_offered_rate(part: object) -> bool:
    """True if the application limits the rate of some flow."""
    if isinstance(part, dict):
        return bool(part.get("offered_bps")) or any(map(_has_offered_rate, part.values()))
    return isinstance(part, list) and any(map(_has_offered_rate, part))


@once_per_cell
def idle_share(view: CellView) -> float | None:
    """Return the share of the traffic's time in which the shared port sent nothing; None if it is unknown."""
    counters, window, facts = view.table("counters"), view.whole_window, view.entry.facts
    ideal_bps, fraction = view.entry.number("ideal_goodput_bps"), view.entry.number("payload_fraction")
    if counters is None or window is None or not ideal_bps or not fraction or not _is_saturated(view):
        return None
    sent = counters[(counters["name"] == SENT) & (counters["port"] == facts.get("bottleneck_port"))]
    bits = 8e9 * float((sent["after"] - sent["before"]).sum())
    return None if sent.empty else 1 - bits * fraction / ideal_bps / window.duration_ns


def too_idle(results: Results, setting: Setting) -> float | None:
    """Return the share of the time in which the shared port sent nothing, if it is above IDLE_MAX."""
    shares = [share for view in results.views_of(setting) if (share := idle_share(view)) is not None]
    mean = float(np.mean(shares)) if shares else 0.0
    return mean if mean > IDLE_MAX else None


def idle_port(results: Results) -> RunWarning | None:
    """Warn of a shared port that idles although every flow has data to send."""
    found = [
        (setting, share)
        for setting in results.measured_settings
        if (share := too_idle(results, setting)) is not None
    ]
    if not found:
        return None
    times = by_transport(found, lambda share: f"{100 * share:.0f} %")
    return RunWarning(
        f"Every flow has data to send, and yet the shared port idles for much of the time: {times}.",
        "Check that the parameters suit the line rate, and that the flows run long enough.",
    )


class Quarters(NamedTuple):
    """Mean goodput (bit/s) of all flows in the last three quarters of a window."""

    second: float
    third: float
    last: float

    @property
    def is_rising(self) -> bool:
        """True if the goodput grows throughout, and by RISE_MIN at the end."""
        return self.second < self.third and self.last > RISE_MIN * self.third


@once_per_cell
def quarters(view: CellView) -> Quarters | None:
    """Return the goodput in quarters of the window; None if it has too few samples, or flows come and go."""
    window, samples = view.window, view.samples
    if window is None or samples is None or not _is_saturated(view):
        return None
    if window.duration_ns < 8 * int(samples["interval_ns"].max()):
        return None
    edges_ns = np.linspace(window.start_ns, window.end_ns, 5).astype(np.int64)
    bits = 8 * view.delivered_between(edges_ns).sum(axis=0)
    return Quarters(*(float(each) * 4e9 / window.duration_ns for each in bits[1:]))


def too_short(results: Results) -> RunWarning | None:
    """Warn of a run that ends while rates still rise, or within few recovery times of a control."""
    rising, short, needed_ns = [], [], 0.0
    for setting in results.measured_settings:
        views = results.views_of(setting)
        known = [found for view in views if (found := quarters(view)) is not None]
        ideal_bps = views[0].entry.number("ideal_goodput_bps")
        mean = Quarters(*np.mean(known, axis=0)) if known else None
        if mean is not None and mean.is_rising and not (ideal_bps and mean.last > FULL_SHARE * ideal_bps):
            rising.append((setting, mean.last / mean.third - 1))
        recoveries = [each for view in views if (each := _recoveries(view)) is not None]
        if recoveries and np.mean(recoveries) < RECOVERIES_MIN:
            short.append((setting, float(np.mean(recoveries))))
            needed_ns = max(needed_ns, *(view.entry.number(RECOVERY) or 0 for view in views))
    if not rising and not short:
        return None
    parts = []
    if rising:
        growth = by_transport(rising, lambda share: f"{100 * share:.0f} %")
        parts.append(f"Rates still rise at the end, in the last quarter by {growth}.")
    if short:
        times = by_transport(short, lambda count: f"{count:.2g}", min)
        parts.append(f"The run lasts fewer than {RECOVERIES_MIN} recovery times of a control: {times}.")
    longer = f"at least {duration_text(RECOVERIES_MIN * needed_ns)}" if needed_ns else "longer"
    return RunWarning(
        " ".join(parts), f"Let the flows run {longer}, or read the results as those of a start."
    )


def _recoveries(view: CellView) -> float | None:
    recovery_ns = view.entry.number(RECOVERY)
    if not recovery_ns or view.window is None or not _is_saturated(view):
        return None
    if view.entry.facts.get("repeats") is not True:
        return None  # transfers of a fixed size end by themselves
    return view.window.duration_ns / recovery_ns


def never_congested(results: Results) -> RunWarning | None:
    """Warn of factor points at which no transport makes a switch queue, mark, drop or pause."""
    points = settings_by_point(results.measured_settings)
    calm = [
        point
        for point, settings in points.items()
        if all(_is_calm(view) for setting in settings for view in results.views_of(setting))
    ]
    if not calm:
        return None
    where = (
        "" if len(calm) == len(points) else f" with {calm[0] if len(calm) == 1 else f'{len(calm)} points'}"
    )
    return RunWarning(
        f"No switch queues, marks, drops or pauses anything{where}, so no control has anything to react to.",
        "Add senders or load, or lower the rate of the shared port.",
    )


def _is_calm(view: CellView) -> bool:
    """True if several flows meet no congestion in recorded queues."""
    queues, packets = view.table("queues"), packets_of_flows(view)
    if queues is None or len(packets) < 2 or view.table("pauses") is not None:
        return False
    frame_bytes = max(each.frame_bytes for each in packets.values())
    is_empty = int(queues["max_bytes"].max()) <= QUEUED_FRAMES_MAX * frame_bytes
    return is_empty and not queues[["drops", "marks"]].to_numpy().any()


SENTENCE = "unpublished_parameters"
REMEDY = "unpublished_remedy"
"""Facts of a cell, which its testbed wrote."""


def unpublished_parameters(results: Results) -> RunWarning | None:
    """Warn of default parameters that no source has for the line rate of the hosts."""
    found: dict[str, dict[str, None]] = {}
    remedies: dict[str, dict[str, None]] = {}
    for setting in results.measured_settings:
        facts = results.views_of(setting)[0].entry.facts
        if facts.get(SENTENCE):
            found.setdefault(str(facts[SENTENCE]), {})[setting.style.name] = None
            remedies.setdefault(str(facts.get(REMEDY)), {})[setting.style.name] = None
    if not found:
        return None
    sentences = [f"those of {some(list(names))} are {sentence}" for sentence, names in found.items()]
    advice = [f"For {some(list(names))}, {remedy}." for remedy, names in remedies.items()]
    return RunWarning(f"Defaults beyond their line rate: {'; '.join(sentences)}.", " ".join(advice))
