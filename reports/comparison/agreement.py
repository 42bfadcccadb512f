"""Decide whether two testbeds agree, and say why they differ."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rogue.reports.comparison.equivalence import Runs, difference
from rogue.reports.comparison.two_runs import runs_of
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import NO_VALUE, Unit, counted, joined, number_text, quantity_text, readable
from rogue.reports.results import Results, Setting
from rogue.workloads.manifest import Manifest

KEY: Final = "agree_within"
P_MAX: Final = 0.05
"""Of each one-sided test."""


def tolerances_of(manifest: Manifest) -> dict[str, float]:
    """Return the allowed distance of two means by metric, as a part of the larger one."""
    stated = manifest.experiment.get(KEY)
    if not isinstance(stated, Mapping):
        return {}
    return {
        name: float(within)
        for name, within in stated.items()
        if name in METRICS and isinstance(within, int | float) and not isinstance(within, bool)
    }


class Agreement(StrEnum):
    """Result of the comparison of a measure on two testbeds."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "not decided"


def agree(one: Runs, other: Runs, within: float) -> Agreement | None:
    """Return whether two means are no further apart than allowed; None if a side has no value.

    The 90 % interval of their difference lies within the allowed distance, or outside; else nothing is
    decided. Two infinite means agree.
    """
    if not one or not other:
        return None
    means = [sum(side.values()) / len(side) for side in (one, other)]
    if any(map(math.isinf, means)):
        return Agreement.YES if means[0] == means[1] else Agreement.NO
    found = difference(one, other, within * max(map(abs, means)))
    if found.is_identical:
        return Agreement.YES
    if found.p_within is not None and found.p_within <= P_MAX:
        return Agreement.YES
    return Agreement.NO if found.p_apart is not None and found.p_apart <= 2 * P_MAX else Agreement.UNDECIDED


def agreement_text(verdict: Agreement | None, within: float) -> str:
    """Write the agreement with its tolerance."""
    return NO_VALUE if verdict is None else f"{verdict.value}, within {_percent(within)}"


def tally(verdicts: Sequence[Agreement | None]) -> str:
    """Count the agreements in a sentence."""
    missing, open_ = verdicts.count(None), verdicts.count(Agreement.UNDECIDED)
    agreeing, judged = verdicts.count(Agreement.YES), len(verdicts) - missing
    text = f"{agreeing} of {judged} measures agree within what the experiment allows"
    more = f"; {open_} are not decided, because their intervals are too wide" if open_ else ""
    return f"{text}{more}{f'; {missing} have no value on both sides' if missing else ''}."


def _percent(within: float) -> str:
    return f"{100 * within:g} %"


BUSY: Final = 0.85
"""A busier processor limits its host: it cannot use the rest of the time."""
DROPS_RATIO: Final = 2.0
DROPS_MIN: Final = 10
PROBES_APART: Final = 8.0
"""Ratio of the 90th to the 10th percentile from which the median means little."""
SOFTWARE: Final = " (software)"
EQUIPMENT: Final = {
    "nic": "the NIC",
    "rate_limiter": "its limiter",
    "timestamps": "its clock",
    "switch": "the switch",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One transport at one factor point in one run, which `label` names."""

    label: str
    results: Results
    setting: Setting

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over the repetitions."""
        mean = self.results.mean(self.setting, metric)
        return None if mean is None else mean.mean

    def runs(self, metric: str) -> Runs:
        """Return the values of a metric by repetition and seed."""
        return runs_of(self.results, self.setting, metric)

    def ends(self, metric: str) -> tuple[float, float] | None:
        """Return the least and the largest value of a metric; None if there is only one."""
        values = self.results.per_run(self.setting, metric)
        return (min(values), max(values)) if len(set(values)) > 1 else None


Reason = Callable[[Sequence[Metric], Side, Side], Iterator[str]]


def reasons(metrics: Sequence[Metric], one: Side, other: Side) -> list[str]:
    """Return possible reasons for the difference of these metrics, or a sentence that there are none."""
    found = [sentence for reason in REASONS for sentence in reason(metrics, one, other)]
    return found or ["Nothing that was recorded explains it."]


def _processors(metrics: Sequence[Metric], one: Side, other: Side) -> Iterator[str]:
    """Yield busy processors: they delay sending."""
    for side in (one, other):
        busiest = max(_loads(side).items(), key=lambda item: item[1], default=None)
        if busiest is not None and busiest[1] >= BUSY:
            host, load = busiest
            share = quantity_text(load, Unit.PERCENT)
            yield f"On {side.label} the processor of {host} is busy for {share} of the time, which bounds it."


def _loads(side: Side) -> dict[str, float]:
    loads: dict[str, list[float]] = {}
    for view in side.results.views_of(side.setting):
        cpu, cores = view.table("cpu"), view.entry.number("node_cores")
        if cpu is None or not cores:
            continue
        for host, busy in cpu.astype({"host": str}).groupby("host")["busy_cores"].mean().items():
            loads.setdefault(str(host), []).append(float(busy) / cores)
    return {host: sum(values) / len(values) for host, values in loads.items()}


def _software(metrics: Sequence[Metric], one: Side, other: Side) -> Iterator[str]:
    """Yield parts that are software, whose processing time is included in all measured times."""
    for side in (one, other):
        facts = next(iter(side.results.views_of(side.setting))).entry.facts
        named = [
            f"{words} ({str(facts[key]).removesuffix(SOFTWARE)})"
            for key, words in EQUIPMENT.items()
            if str(facts.get(key, "")).endswith(SOFTWARE)
        ]
        if named:
            text = "are software, slower than hardware, and their time is part of what is measured"
            yield f"On {side.label} {joined(named)} {text}."


def _drops(metrics: Sequence[Metric], one: Side, other: Side) -> Iterator[str]:
    """Yield a difference in losses, which cost retransmissions and waiting."""
    drops = [(side.mean("drops_packets"), side) for side in (one, other)]
    if [metric.name for metric in metrics] == ["drops_packets"] or any(count is None for count, _ in drops):
        return
    (few, _), (many, most) = sorted(drops, key=lambda each: each[0] or 0.0)
    if many is not None and many >= max(DROPS_MIN, DROPS_RATIO * (few or 0.0)):
        texts = [f"{number_text(count, Unit.COUNT)} on {side.label}" for count, side in drops]
        yield f"Switches drop {' and '.join(texts)}: {most.label} sends more again, or it is missing."


def _probes(metrics: Sequence[Metric], one: Side, other: Side) -> Iterator[str]:
    """Yield probes with two typical times, of an empty and of a full queue: the median is either."""
    if "probe_p50_ns" not in {metric.name for metric in metrics}:
        return
    for side in (one, other):
        low_ns, high_ns = side.mean("probe_p10_ns"), side.mean("probe_p90_ns")
        if low_ns and high_ns and math.inf > high_ns >= PROBES_APART * low_ns:
            ends = f"{readable(low_ns, Unit.TIME)} and one in ten more than {readable(high_ns, Unit.TIME)}"
            text = "the median depends on how often the port was idle"
            yield f"On {side.label} one probe in ten takes less than {ends}: {text}."


def _single_runs(metrics: Sequence[Metric], one: Side, other: Side) -> Iterator[str]:
    """Yield single runs, which chance may explain."""
    for side in (one, other):
        runs = len(side.results.views_of(side.setting))
        if runs == 1:
            yield f"{side.label.capitalize()} has {counted(runs, 'run')}, so the difference may be chance."


REASONS: Final[tuple[Reason, ...]] = (_processors, _drops, _probes, _single_runs, _software)
"""In the order in which the report shows them."""
