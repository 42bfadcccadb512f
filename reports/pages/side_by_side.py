"""One experiment on several testbeds: measures side by side, and reasons of large differences."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rogue.reports.comparison.agreement import (
    Agreement,
    Side,
    agree,
    agreement_text,
    reasons,
    tally,
    tolerances_of,
)
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.metric import Metric
from rogue.reports.pages.tables import CsvRow, Head, ReportTable, Value, csv_href
from rogue.reports.quantities import (
    NO_VALUE,
    Scale,
    common_scale,
    counted,
    number_text,
    quantity_text,
    readable,
)
from rogue.reports.results import Results, Setting, settings_of
from rogue.reports.results.headlines import headlines_of
from rogue.workloads.records import CellStatus

LARGE: Final = 1.25
"""Measures that differ by this factor are explained."""
ALWAYS: Final = ("jain", "drops_packets")
Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Difference:
    """A large difference in words, with possible reasons."""

    sentence: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The comparison of one experiment on several testbeds."""

    key: str
    title: str
    table: ReportTable
    differences: tuple[Difference, ...]
    shared: tuple[str, ...]
    """Reasons that all differences share."""
    missing: tuple[str, ...]


def side_by_side(results: Sequence[Results]) -> list[SideBySide]:
    """Return a comparison for each experiment that was run on more than one testbed."""
    groups: dict[str, list[Results]] = {}
    for each in results:
        groups.setdefault(each.run.manifest.name, []).append(each)
    return [
        _compare(f"beside{number}", group)
        for number, group in enumerate(groups.values(), start=1)
        if len({each.run.manifest.testbed for each in group}) > 1
    ]


def _compare(key: str, group: list[Results]) -> SideBySide:
    names = Counter(each.run.manifest.testbed for each in group)
    labels = [
        manifest.testbed if names[manifest.testbed] == 1 else f"{manifest.testbed} ({manifest.run_id})"
        for manifest in (each.run.manifest for each in group)
    ]
    sides: dict[Key, list[Side | None]] = {}
    for place, (label, results) in enumerate(zip(labels, group, strict=True)):
        for setting in results.measured_settings:
            row = sides.setdefault((setting.transport, setting.factors), [None] * len(group))
            row[place] = Side(label, results, setting)
    metrics = _metrics(group)
    manifest = group[0].run.manifest
    tolerances = tolerances_of(manifest)
    differences, shared = without_shared(_differences(sides, metrics, tolerances))
    return SideBySide(
        key,
        manifest.title,
        _table(manifest.name, labels, sides, metrics, tolerances),
        tuple(differences),
        tuple(shared),
        tuple(_missing(labels, group)),
    )


def _metrics(group: list[Results]) -> list[Metric]:
    """Return the summary's metrics, ALWAYS (fairness, drops), and all with a tolerance, if a run has them."""
    manifest = group[0].run.manifest
    names = [headline.metric for headline in headlines_of(manifest).shown]
    wanted = dict.fromkeys([*names, *ALWAYS, *tolerances_of(manifest)])
    return [METRICS[name] for name in wanted if any(each.has(name) for each in group)]


def _table(
    name: str,
    labels: list[str],
    sides: dict[Key, list[Side | None]],
    metrics: list[Metric],
    tolerances: Mapping[str, float],
) -> ReportTable:
    """Return a row per setting and metric: each run, its ratio to the first, and the agreement."""
    head = (
        Head("Transport"),
        Head("Measure"),
        *map(Head, labels),
        *(Head(f"{label} ÷ {labels[0]}" if len(labels) > 2 else f"÷ {labels[0]}") for label in labels[1:]),
        *([Head("Agree")] if tolerances else ()),
    )
    rows, lines, verdicts = [], [], []
    for row in sides.values():
        setting = next(side.setting for side in row if side is not None)
        for metric in metrics:
            means = [None if side is None else side.mean(metric.name) for side in row]
            ratios = [_ratio(mean, means[0]) for mean in means[1:]]
            values, line = _row(setting, metric, row, ratios), [setting.title, metric.name, *means, *ratios]
            if tolerances:
                within = tolerances.get(metric.name)
                verdict = None if within is None else _all_agree(row, metric, within)
                values = (*values, Value(NO_VALUE if within is None else agreement_text(verdict, within)))
                line.append(within)
                verdicts += [verdict] if within is not None else []
            rows.append(values)
            lines.append(line)
    csv_head: CsvRow = [
        *("setting", "metric", *labels, *(f"{label}_ratio" for label in labels[1:])),
        *(["agree_within"] if tolerances else ()),
    ]
    caption = (
        "Means over the repetitions of each run, with the lowest and the highest of them; a dash where a run"
        " has no such number, and its own “Not measured” says why."
    )
    if tolerances:
        caption += f" {tally(verdicts)}"
    return ReportTable(
        "Side by side",
        caption,
        2,
        head,
        tuple(rows),
        f"{name}-side-by-side.csv",
        csv_href([csv_head, *lines]),
    )


def _all_agree(sides: Sequence[Side | None], metric: Metric, within: float) -> Agreement | None:
    """Return the worst agreement with the first run; None if a run has no value."""
    first, *others = [side.runs(metric.name) if side else {} for side in sides]
    found = {agree(first, other, within) for other in others}
    return next((each for each in (None, Agreement.NO, Agreement.UNDECIDED) if each in found), Agreement.YES)


def _row(
    setting: Setting, metric: Metric, sides: list[Side | None], ratios: list[float | None]
) -> tuple[Value, ...]:
    means = [side.mean(metric.name) for side in sides if side is not None]
    scale = common_scale(means, metric.unit)
    numbers = [Value(with_ends(side, metric, scale)) for side in sides]
    quotients = [Value(NO_VALUE if ratio is None else f"{ratio:.2f}") for ratio in ratios]
    return Value(setting.title, colour=setting.style.colour), Value(metric.title), *numbers, *quotients


def with_ends(side: Side | None, metric: Metric, scale: Scale) -> str:
    """Write a mean with its unit, and the ends of its interval without it."""
    if side is None:
        return NO_VALUE
    text, ends = quantity_text(side.mean(metric.name), metric.unit, scale), side.ends(metric.name)
    low, high = (number_text(end, metric.unit, scale) for end in ends or (None, None))
    return text if low == high else f"{text} ({low} to {high})"


def _differences(
    sides: dict[Key, list[Side | None]], metrics: list[Metric], tolerances: Mapping[str, float]
) -> list[Difference]:
    """Return a difference for each setting with a measure far from that of the first run."""
    return [
        difference
        for first, *others in sides.values()
        for other in others
        if first is not None and other is not None
        if (difference := _difference(metrics, first, other, tolerances)) is not None
    ]


def without_shared(found: list[Difference]) -> tuple[list[Difference], list[str]]:
    """Move the reasons that all of several differences share into a separate list."""
    if len(found) < 2:
        return found, []
    first, *others = found
    shared = [reason for reason in first.reasons if all(reason in each.reasons for each in others)]
    return [
        Difference(each.sentence, tuple(reason for reason in each.reasons if reason not in shared))
        for each in found
    ], shared


def _difference(
    metrics: list[Metric], one: Side, other: Side, tolerances: Mapping[str, float]
) -> Difference | None:
    far = [metric for metric in metrics if _is_large(one, other, metric.name, tolerances.get(metric.name))]
    if not far:
        return None
    texts = [
        f"{metric.title} {readable(one.mean(metric.name), metric.unit)} on {one.label}"
        f" and {readable(other.mean(metric.name), metric.unit)} on {other.label}"
        for metric in far
    ]
    return Difference(f"{one.setting.title}: {'; '.join(texts)}.", tuple(reasons(far, one, other)))


def _is_large(one: Side, other: Side, metric: str, within: float | None) -> bool:
    own, its = one.mean(metric), other.mean(metric)
    if own is None or its is None:
        return False
    if within is not None:
        return agree(one.runs(metric), other.runs(metric), within) is Agreement.NO
    small, large = sorted((abs(own), abs(its)))
    return large > 0 and (small == 0 or large / small >= LARGE)


def _ratio(mean: float | None, first: float | None) -> float | None:
    ratio = mean / first if mean is not None and first else math.inf
    return ratio if math.isfinite(ratio) else None


def _missing(labels: list[str], group: list[Results]) -> list[str]:
    """Describe the missing results of each run, with reasons."""
    found = []
    for label, results in zip(labels, group, strict=True):
        reasons_of: Counter[tuple[str, str]] = Counter()
        for setting in settings_of(results.run.manifest.cells):
            for entry in setting.entries:
                if entry.status is not CellStatus.OK:
                    reasons_of[setting.style.name, entry.message or entry.status.value] += 1
        found += [
            f"{name} has no result on {label} ({counted(count, 'cell')}): {reason}"
            for (name, reason), count in reasons_of.items()
        ]
    return found
