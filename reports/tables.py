"""The tables of the report: what the page shows, and the same as CSV to take away."""

import base64
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reports.metrics import METRICS, TABLES
from reports.metrics.intervals import SINGLE_VALUES_MAX
from reports.metrics.metric import Metric
from reports.quantities import number_text
from reports.results import Results, Setting, factor_name
from reports.wording import lost_text, values_text

CsvRow = Sequence[str | float | int | None]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one column."""

    text: str
    unit: str = ""
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """One field: its text, and a smaller second line."""

    text: str
    note: str = ""
    colour: str | None = None


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table with its CSV; the first `labels` columns say what a row is about."""

    title: str
    caption: str
    labels: int
    head: tuple[Head, ...]
    rows: tuple[tuple[Value, ...], ...]
    csv_name: str
    csv_href: str


def metric_tables(results: Results) -> list[ReportTable]:
    """Return the tables of means, one per family; columns and tables without any value are left out."""
    tables = []
    for title, names in TABLES:
        metrics = [METRICS[name] for name in names if _has_values(results, name)]
        if metrics:
            tables.append(_table_of_means(results, title, metrics))
    return tables


def table_of_runs(results: Results) -> ReportTable:
    """Return the table that has every metric of every finished cell, one row per cell."""
    metrics = [metric for name, metric in METRICS.items() if _has_values(results, name)]
    head = (Head("Cell"), Head("Seed"), *(_metric_head(metric) for metric in metrics))
    rows, lines = [], []
    for cell_id, view in results.views.items():
        values = [results.values[cell_id][metric.name] for metric in metrics]
        numbers = [number_text(value, metric.unit) for value, metric in zip(values, metrics, strict=True)]
        seed = "" if view.entry.seed is None else str(view.entry.seed)
        rows.append((Value(cell_id), Value(seed), *(Value(number) for number in numbers)))
        lines.append([cell_id, view.entry.seed, *values])
    csv_head = ["cell", "seed", *(metric.name for metric in metrics)]
    return ReportTable(
        "Every run",
        "One row per finished cell: the numbers of which the other tables show the means.",
        1,
        head,
        tuple(rows),
        f"{results.run.manifest.name}-runs.csv",
        csv_href([csv_head, *lines]),
    )


def _table_of_means(results: Results, title: str, metrics: list[Metric]) -> ReportTable:
    settings = results.measured_settings
    factors = list(dict.fromkeys(key for setting in settings for key, _ in setting.factors))
    head = (
        Head("Transport"),
        *(Head(factor_name(key).capitalize()) for key in factors),
        Head("n", meaning="Runs: finished repetitions with different seeds."),
        *(_metric_head(metric) for metric in metrics),
    )
    rows = [_row_of_means(results, setting, factors, metrics) for setting in settings]
    csv_head = ["transport", *factors, "n"]
    for metric in metrics:
        csv_head += [f"{metric.name}_{part}" for part in ("mean", "low95", "high95", "n")]
    lines = [_line_of_means(results, setting, factors, metrics) for setting in settings]
    return ReportTable(
        title,
        _caption(results),
        1 + len(factors),
        head,
        tuple(rows),
        f"{results.run.manifest.name}-{title.lower().replace(' ', '-')}.csv",
        csv_href([csv_head, *lines]),
    )


def _caption(results: Results) -> str:
    counts = {len(results.views_of(setting)) for setting in results.measured_settings}
    if counts == {1}:
        below = "One run each: there is no interval."
    elif max(counts, default=0) <= SINGLE_VALUES_MAX:
        below = "Mean over n runs; below it the value of each run, for so few have no interval."
    else:
        below = "Mean over n runs; below it the 95 % interval of the mean, by bootstrap over the runs."
        if min(counts) <= SINGLE_VALUES_MAX:
            below += f" Up to {SINGLE_VALUES_MAX} runs have no interval: the value of each stands there."
    return below


def _row_of_means(
    results: Results, setting: Setting, factors: list[str], metrics: list[Metric]
) -> tuple[Value, ...]:
    runs = len(results.views_of(setting))
    point = dict(setting.factors)
    return (
        Value(setting.style.name, colour=setting.style.colour),
        *(Value(point.get(key, "")) for key in factors),
        Value(str(runs)),
        *(_mean_value(results, setting, metric, runs) for metric in metrics),
    )


def _mean_value(results: Results, setting: Setting, metric: Metric, runs: int) -> Value:
    mean = results.mean(setting, metric.name)
    if mean is None:
        return Value(number_text(None, metric.unit))
    notes = [] if mean.exists else [lost_text(results, setting, metric.name)]
    if mean.has_interval:
        notes.append(" to ".join(number_text(end, metric.unit) for end in (mean.low, mean.high)))
    elif 1 < mean.n <= SINGLE_VALUES_MAX:
        notes.append(values_text(results, setting, metric.name))
    if mean.n != runs:
        notes.append(f"n = {mean.n}")
    return Value(number_text(mean.mean, metric.unit), "; ".join(filter(None, notes)))


def _line_of_means(
    results: Results, setting: Setting, factors: list[str], metrics: list[Metric]
) -> list[str | float | int | None]:
    point = dict(setting.factors)
    line: list[str | float | int | None] = [setting.transport, *(point.get(key) for key in factors)]
    line.append(len(results.views_of(setting)))
    for metric in metrics:
        mean = results.mean(setting, metric.name)
        ends = (mean.low, mean.high) if mean and mean.has_interval else (None, None)
        line += [mean.mean, *ends, mean.n] if mean else [None, *ends, 0]
    return line


def _metric_head(metric: Metric) -> Head:
    return Head(metric.title, metric.unit.symbol, metric.meaning)


def _has_values(results: Results, metric: str) -> bool:
    return any(values[metric] is not None for values in results.values.values())


def csv_href(rows: Iterable[CsvRow]) -> str:
    """Return a link that holds the rows as a CSV file."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([harmless(field) for field in row] for row in rows)
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(buffer.getvalue().encode()).decode()


def harmless(field: str | float | int | None) -> str | float | int | None:
    """Keep a spreadsheet from taking a name out of an experiment file for a formula."""
    return (
        f"'{field}"
        if isinstance(field, str) and field.startswith(("=", "+", "-", "@", "\t", "\r"))
        else field
    )
