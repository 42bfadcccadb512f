"""The tables of the report: what the page shows, and the same as CSV to take away."""

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rogue.reports.export.csv_files import write_rows
from rogue.reports.metrics import METRICS, TABLES
from rogue.reports.metrics.intervals import SINGLE_VALUES_MAX
from rogue.reports.metrics.metric import Metric
from rogue.reports.pages.columns import Column, columns_of
from rogue.reports.quantities import number_text
from rogue.reports.results import Results, Setting, factor_name
from rogue.reports.results.wording import lost_text, values_text

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
    """Return the tables of means, one per family; what holds nothing, or only zeros, is left out."""
    tables = []
    for title, names in TABLES:
        columns = columns_of(results, names)
        if columns:
            tables.append(_table_of_means(results, title, columns))
    return tables


def table_of_runs(results: Results) -> ReportTable:
    """Return the table that has every metric of every finished cell, one row per cell."""
    columns = columns_of(results, METRICS)
    names = [name for name in METRICS if _has_values(results, name)]
    head = (Head("Cell"), Head("Seed"), *(_metric_head(column) for column in columns))
    rows, lines = [], []
    for cell_id, view in results.views.items():
        values = results.values[cell_id]
        numbers = [number_text(values[each.metric.name], each.metric.unit, each.scale) for each in columns]
        seed = "" if view.entry.seed is None else str(view.entry.seed)
        rows.append((Value(cell_id), Value(seed), *(Value(number) for number in numbers)))
        lines.append([cell_id, view.entry.seed, *(values[name] for name in names)])
    csv_head = ["cell", "seed", *names]
    return ReportTable(
        "Every run",
        "One row per finished cell: the numbers of which the other tables show the means.",
        1,
        head,
        tuple(rows),
        f"{results.run.manifest.name}-runs.csv",
        csv_href([csv_head, *lines]),
    )


def _table_of_means(results: Results, title: str, columns: list[Column]) -> ReportTable:
    settings = results.measured_settings
    factors = list(dict.fromkeys(key for setting in settings for key, _ in setting.factors))
    head = (
        Head("Transport"),
        *(Head(factor_name(key).capitalize()) for key in factors),
        Head("n", meaning="Runs: finished repetitions with different seeds."),
        *(_metric_head(column) for column in columns),
    )
    metrics = [column.metric for column in columns]
    rows = [_row_of_means(results, setting, factors, columns) for setting in settings]
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
    results: Results, setting: Setting, factors: list[str], columns: list[Column]
) -> tuple[Value, ...]:
    runs = len(results.views_of(setting))
    point = dict(setting.factors)
    return (
        Value(setting.style.name, colour=setting.style.colour),
        *(Value(point.get(key, "")) for key in factors),
        Value(str(runs)),
        *(_mean_value(results, setting, column, runs) for column in columns),
    )


def _mean_value(results: Results, setting: Setting, column: Column, runs: int) -> Value:
    name, unit, scale = column.metric.name, column.metric.unit, column.scale
    mean = results.mean(setting, name)
    if mean is None:
        return Value(number_text(None, unit))
    notes = [] if mean.exists else [lost_text(results, setting, name)]
    if mean.has_interval:
        notes.append(" to ".join(number_text(end, unit, scale) for end in (mean.low, mean.high)))
    elif 1 < mean.n <= SINGLE_VALUES_MAX:
        notes.append(values_text(results, setting, name, scale))
    if mean.n != runs:
        notes.append(f"n = {mean.n}")
    return Value(number_text(mean.mean, unit, scale), "; ".join(filter(None, notes)))


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


def _metric_head(column: Column) -> Head:
    return Head(column.metric.title, column.scale.symbol, column.metric.meaning)


def _has_values(results: Results, metric: str) -> bool:
    return any(values[metric] is not None for values in results.values.values())


def csv_href(rows: Iterable[CsvRow]) -> str:
    """Return a link that holds the rows as a CSV file."""
    buffer = io.StringIO()
    write_rows(rows, buffer)
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(buffer.getvalue().encode()).decode()
