"""The table of an answer: transports times measures, the best of each in bold."""

import math
from dataclasses import replace
from typing import Final

from rogue.reports.claims.rows import table_anchor
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import LEVEL_WITHIN, SINGLE_VALUES_MAX, MeanInterval
from rogue.reports.pages.tables import (
    Column,
    Head,
    ReportTable,
    Value,
    csv_of_means,
    factors_of,
    mean_value,
    metric_head,
)
from rogue.reports.quantities import counted, number_text
from rogue.reports.results import (
    Results,
    Setting,
    by_transport,
    factor_name,
    is_counted,
    lost_text,
    settings_by_point,
    written,
)
from rogue.reports.warnings.load import too_idle

ROWS_MAX: Final = 16
"""With more settings a row is a transport, over all factor points."""
OF_QUEUES: Final = ("queue_", "probe_", "rtt_")
"""Measures that are good in an idle network: a transport that leaves the port idle is never the best."""


def answer_table(results: Results, columns: list[Column]) -> ReportTable:
    """Return the table with a row per setting; of many factor points with a row per transport."""
    settings = results.measured_settings
    factors = [
        key for key in factors_of(settings) if len({dict(each.factors).get(key) for each in settings}) > 1
    ]
    metrics = [column.metric for column in columns]
    is_short = len(settings) <= ROWS_MAX
    rows = _rows(results, columns, factors) if is_short else _rows_over_points(results, columns)
    shown = factors if is_short else []
    title = "Answer"
    return ReportTable(
        title,
        _caption(results, is_short=is_short),
        1 + len(shown),
        (
            Head("Transport"),
            *(Head(factor_name(key).capitalize()) for key in shown),
            *(metric_head(column) for column in columns),
        ),
        tuple(rows),
        f"{results.run.manifest.name}-{table_anchor(title)}.csv",
        csv_of_means(results, metrics),
    )


def order(own: MeanInterval, other: MeanInterval, metric: str) -> int:
    """Return 1 if the first mean is better, -1 if worse, 0 if both are level.

    Means are level if their 95 % intervals touch (or the spans of their values, with too few runs for an
    interval), or if they differ by less than LEVEL_WITHIN of the larger one. An infinite time is worse than
    any other.
    """
    if own.mean == other.mean:
        return 0
    if own.exists != other.exists:
        return 1 if own.exists else -1
    if abs(own.mean - other.mean) < LEVEL_WITHIN * max(abs(own.mean), abs(other.mean)) < math.inf:
        return 0
    own_low, own_high = (own.mean if bound is None else bound for bound in (own.low, own.high))
    other_low, other_high = (other.mean if bound is None else bound for bound in (other.low, other.high))
    if own_low <= other_high and other_low <= own_high:
        return 0
    return 1 if (own.mean > other.mean) == (METRICS[metric].better == "higher") else -1


LEVEL: Final = f"Level: intervals that touch, or means within {100 * LEVEL_WITHIN:.0f} %."


def _caption(results: Results, *, is_short: bool) -> str:
    settings = results.measured_settings
    if not is_short:
        return (
            f"Least and largest mean over {len(settings_by_point(settings))} factor points. Bold: the best at"
            f" most points; below it, at how many it is the best or level with it. {LEVEL}"
        )
    several = len({setting.transport for setting in settings}) > 1
    idle = any(too_idle(results, setting) for setting in settings)
    busy = " Queues and delays of a port that idles are never the best." if idle else ""
    best = f" Bold: the best of each measure, and what is level with it. {LEVEL}{busy}" if several else ""
    runs = [len(results.views_of(setting)) for setting in settings]
    if max(runs) == 1:
        return f"One run each: there is no interval.{best}"
    number = counted(max(runs), "run") if min(runs) == max(runs) else f"{min(runs)} to {max(runs)} runs"
    below = "the least and the largest of them" if max(runs) <= SINGLE_VALUES_MAX else "the 95 % interval"
    if min(runs) <= SINGLE_VALUES_MAX < max(runs):
        below += f" (up to {SINGLE_VALUES_MAX} runs: the least and the largest of them)"
    return f"Mean over {number}; below it {below}.{best}"


def _rows(results: Results, columns: list[Column], factors: list[str]) -> list[tuple[Value, ...]]:
    best = {column.metric.name: _best(results, column.metric.name) for column in columns}
    rows = []
    for setting in results.measured_settings:
        point = dict(setting.factors)
        row = [
            Value(setting.style.name, colour=setting.style.colour),
            *(Value(point.get(key, "")) for key in factors),
        ]
        for column in columns:
            is_best = id(setting) in best[column.metric.name]
            row.append(replace(_short_value(results, setting, column), is_best=is_best))
        rows.append(tuple(row))
    return rows


def _best(results: Results, metric: str, *, counts_level: bool = False) -> set[int]:
    """Return the settings that are best at their factor point, or level with it.

    counts_level: also where all are level.
    """
    if METRICS[metric].better == "near":
        return set()
    found: set[int] = set()
    for settings in settings_by_point(results.measured_settings).values():
        busy = [each for each in settings if not metric.startswith(OF_QUEUES) or not too_idle(results, each)]
        means = [(mean, each) for each in busy if (mean := results.mean(each, metric))]
        sign = -1 if METRICS[metric].better == "higher" else 1
        first = min((mean for mean, _ in means), key=lambda mean: sign * mean.mean, default=None)
        if first is None or not first.exists:
            continue
        level = {id(each) for mean, each in means if order(mean, first, metric) == 0}
        if counts_level or len(level) < len(settings):
            found |= level
    return found


def _rows_over_points(results: Results, columns: list[Column]) -> list[tuple[Value, ...]]:
    groups = by_transport(results.measured_settings)
    columns_of_values = []
    for column in columns:
        best = _best(results, column.metric.name, counts_level=True) if len(groups) > 1 else set()
        counts = [sum(id(each) in best for each in own) for own in groups.values()]
        columns_of_values.append(
            [
                replace(_span_value(results, own, column, count), is_best=min(counts) < count == max(counts))
                for own, count in zip(groups.values(), counts, strict=True)
            ]
        )
    names = [Value(own[0].style.name, colour=own[0].style.colour) for own in groups.values()]
    return list(zip(names, *columns_of_values, strict=True))


def _span_value(results: Results, own: list[Setting], column: Column, count: int) -> Value:
    name, unit, scale = column.metric.name, column.metric.unit, column.scale
    known = sorted((mean.mean, place) for place, each in enumerate(own) if (mean := results.mean(each, name)))
    shown = [own[place] for _, place in known if not is_void(results, own[place], name)]
    ends = [shown[0], shown[-1]] if shown else [own[place] for _, place in known[:1]]
    texts = [written(results, each, name, lambda value: number_text(value, unit, scale)) for each in ends]
    notes = [f"best at {count} of {len(own)}"] if count else []
    if shown and len(shown) < len(known):
        notes.append(f"none at {len(known) - len(shown)} of {len(own)}")
    return Value(" to ".join(dict.fromkeys(texts)), "\n".join(notes))


def is_void(results: Results, setting: Setting, metric: str) -> bool:
    """True if a mean is infinite and has no least value."""
    mean = results.mean(setting, metric)
    return mean is not None and not mean.exists and results.at_least(setting, metric) is None


def _short_value(results: Results, setting: Setting, column: Column) -> Value:
    """Return a mean, and below it the ends of its interval or of its runs."""
    name, unit, scale = column.metric.name, column.metric.unit, column.scale
    value, mean = mean_value(results, setting, column), results.mean(setting, name)
    if mean is None:
        return replace(value, note="")
    ends = (
        [number_text(end, unit, scale) for end in (mean.low, mean.high)] if mean.n > 1 and mean.exists else []
    )
    span = " to ".join(dict.fromkeys(ends)) if set(ends) != {value.text} else ""
    lost = lost_text(results, setting, name) if not mean.exists or is_counted(name) else ""
    return replace(value, note="\n".join(filter(None, (span, lost))))
