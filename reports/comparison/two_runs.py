"""Compare two runs, setting by setting and metric by metric."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final

from rogue.reports.comparison.equivalence import (
    ALPHA,
    CERTAIN_MIN,
    MARGIN,
    RUNS_MIN,
    Difference,
    Runs,
    Verdict,
    difference,
    matched,
    verdicts,
)
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.quantities import NO_VALUE, common_scale, counted, quantity_text, readable
from rogue.reports.reading.files import differences
from rogue.reports.results import Results, Setting
from rogue.reports.results.headlines import headlines_of
from rogue.reports.results.loaded import BASE_UNITS

HEAD: Final = ("setting", "measure", "A", "B", "B \u2212 A", "95 % interval", "adjusted p", "")
_SHOWN_ELSEWHERE: Final = ("name", "title")
_PLACES_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class Compared:
    """One metric of one setting in both runs."""

    setting: Setting
    metric: Metric
    first: tuple[float, ...]
    second: tuple[float, ...]
    difference: Difference
    verdict: Verdict
    p: float | None = None
    """Adjusted over all rows: the one that decides."""

    @property
    def differs(self) -> bool:
        """True if the runs differ by more than the margin, and by more than chance."""
        return self.verdict in (Verdict.HIGHER, Verdict.LOWER)

    @property
    def is_worse(self) -> bool:
        """True if they differ, and the second one is worse; False if neither direction is better."""
        better = "lower" if self.verdict is Verdict.HIGHER else "higher"
        return self.differs and self.metric.better == better

    @property
    def means(self) -> tuple[float, float]:
        """Return the mean of each run, in the metric's base unit."""
        return sum(self.first) / len(self.first), sum(self.second) / len(self.second)

    @property
    def row(self) -> tuple[str, ...]:
        """Return the texts of the columns of HEAD."""
        found, unit = self.difference, self.metric.unit
        scale = common_scale(self.means, unit)
        means = [quantity_text(mean, unit, scale) for mean in self.means]
        ends = [end for end in (found.low, found.high) if end is not None]
        interval = " to ".join(_signed(end, self) for end in ends) or NO_VALUE
        p = NO_VALUE if self.p is None else f"{self.p:.3f}"
        words = (self.setting.title, self.metric.title, *means, _signed(found.mean, self), interval, p)
        return (*words, self.verdict_text)

    @property
    def content(self) -> dict[str, object]:
        """Return the comparison with the values of each repetition, in base units."""
        return {
            "transport": self.setting.transport,
            "factors": dict(self.setting.factors),
            "measure": self.metric.name,
            "unit": BASE_UNITS[self.metric.unit],
            "a": self.first,
            "b": self.second,
            "difference": self.difference.mean,
            "interval": [self.difference.low, self.difference.high],
            "p": self.difference.p_apart,
            "p_adjusted": self.p,
            "p_equivalent": self.difference.p_within,
            "verdict": self.verdict,
            "is_worse": self.is_worse,
        }

    @property
    def verdict_text(self) -> str:
        """Return the verdict, and whether that is better or worse."""
        if not self.differs or self.metric.better == "near":
            return self.verdict.value
        return f"{self.verdict.value}: {'worse' if self.is_worse else 'better'}"

    @property
    def sentence(self) -> str:
        """Return both means and the relative difference: `Queue p50 is 12 KB instead of 10 KB (+20.0%)`."""
        scale = common_scale(self.means, self.metric.unit)
        one, other = (quantity_text(mean, self.metric.unit, scale) for mean in self.means)
        change = _signed(self.difference.mean, self)
        return (
            f"{self.metric.title} is {other} instead of {one}{f' ({change})' if change != NO_VALUE else ''}"
        )


def compare(first: Results, second: Results, margin: float = MARGIN) -> list[Compared]:
    """Compare every metric that both runs have of a setting, in the order of the first run.

    margin: largest difference that does not matter, as a part of the first run's mean.
    """
    others = {(setting.transport, setting.factors): setting for setting in second.measured_settings}
    pairs = [
        (setting, metric, runs)
        for setting in first.measured_settings
        if (other := others.get((setting.transport, setting.factors))) is not None
        for metric in METRICS.values()
        if all(runs := matched(runs_of(first, setting, metric.name), runs_of(second, other, metric.name)))
    ]
    rows = [difference(*runs, margin * abs(_mean(runs[0]))) for _, _, runs in pairs]
    return [
        Compared(setting, metric, tuple(one.values()), tuple(two.values()), row, *decision)
        for (setting, metric, (one, two)), row, decision in zip(pairs, rows, verdicts(rows), strict=True)
    ]


def runs_of(results: Results, setting: Setting, metric: str) -> Runs:
    """Return a metric's values, one per finished cell that has it, by repetition and seed."""
    values = {
        (view.entry.repetition, view.entry.seed): results.values[view.entry.id][metric]
        for view in results.views_of(setting)
    }
    return {key: value for key, value in values.items() if value is not None}


def _mean(runs: Runs) -> float:
    return sum(runs.values()) / len(runs)


def shown(compared: list[Compared], results: Results, *, everything: bool) -> list[Compared]:
    """Return the comparisons that differ, and those of the experiment's headlines; or all."""
    headlines = headlines_of(results.run.manifest)
    return [each for each in compared if everything or each.differs or headlines.is_about(each.metric.name)]


def conclusions(compared: list[Compared]) -> list[str]:
    """Summarise all comparisons in sentences."""
    counts = Counter(each.verdict for each in compared)
    worse, differing = sum(each.is_worse for each in compared), sum(each.differs for each in compared)
    verb = "differs" if differing == 1 else "differ"
    of_these = f", {worse} for the worse" if differing else ""
    lines = [f"{counted(len(compared), 'comparison')}: {differing} {verb}{of_these}."]
    parts = [
        (Verdict.IDENTICAL, "identical, run by run"),
        (Verdict.EQUIVALENT, "equivalent within the margin"),
    ]
    parts += [(Verdict.UNDECIDED, "not decided: more repetitions may tell")]
    lines += [
        f"{counts[verdict]} {'is' if counts[verdict] == 1 else 'are'} {text}."
        for verdict, text in parts
        if counts[verdict]
    ]
    if too_few := counts[Verdict.TOO_FEW]:
        need = f"a test needs {RUNS_MIN} runs on each side, {CERTAIN_MIN} if they are equal; set repetitions"
        lines.append(f"{too_few} {'has' if too_few == 1 else 'have'} not enough runs: {need}.")
    if differing:
        lines.append(
            f"On average at most {ALPHA:.0%} of the rows that differ do so by chance.".replace("%", " %")
        )
    return lines


def other_differences(first: Results, second: Results) -> list[str]:
    """Return other differences of the runs: testbed, commit, schema and parameters, a line each."""
    runs = first.run.manifest, second.run.manifest
    lines = []
    for what, values in (
        ("testbed", [run.testbed for run in runs]),
        ("commit", [run.git.commit or "not recorded" for run in runs]),
        ("record schema", [str(run.schema_version) for run in runs]),
    ):
        if values[0] != values[1]:
            lines.append(f"{what}: {values[0]} in A, {values[1]} in B")
    places = [
        f"{place}: {_written(one)} in A, {_written(other)} in B"
        for place, one, other in differences(runs[0].experiment, runs[1].experiment)
        if place not in _SHOWN_ELSEWHERE
    ]
    lines += places[:_PLACES_SHOWN]
    if len(places) > _PLACES_SHOWN:
        lines.append(f"and {counted(len(places) - _PLACES_SHOWN, 'more parameter')} of the experiment")
    return lines


def _written(value: object) -> str:
    return "nothing" if value is None else str(value)


def _signed(value: float, compared: Compared) -> str:
    """Write a difference with its sign, as a fraction of the first run's mean unless that is zero."""
    if math.isnan(value):
        return NO_VALUE
    mean, _ = compared.means
    if mean:
        return f"{value / abs(mean):+.1%}".replace("-", "\u2212")
    sign = "\u2212" if value < 0 else "+"
    return f"{sign}{readable(abs(value), compared.metric.unit)}"
