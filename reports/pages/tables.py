"""The tables of a report, as HTML, CSV and LaTeX."""

import base64
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rogue.reports.claims.rows import table_anchor
from rogue.reports.export.csv_files import write_rows
from rogue.reports.latex import latex_text
from rogue.reports.metrics import METRICS, TABLES
from rogue.reports.metrics.metric import Metric
from rogue.reports.metrics.statistics import SINGLE_VALUES_MAX
from rogue.reports.quantities import DIGITS_MAX, MULTIPLES, SLOW_BPS, Scale, Unit, number_text
from rogue.reports.results import Results, Setting, factor_name, is_counted, lost_text, values_text, written

LEAST_SHOWN: Final = 1e-3
"""Smaller values would be written as 0, so the column keeps a smaller unit."""


@dataclass(frozen=True, slots=True)
class Column:
    """A measure and the unit in which its column is written."""

    metric: Metric
    scale: Scale


def columns_of(results: Results, names: Iterable[str]) -> list[Column]:
    """Return the columns of these measures without empty ones and those with only zeros."""
    return [
        Column(METRICS[name], column_scale(values, METRICS[name].unit))
        for name in names
        if any(values := _values(results, name))
    ]


def zero_in_every_run(results: Results) -> list[str]:
    """Return the titles of measures that are 0 in every run."""
    titles = [
        METRICS[name].title for name in METRICS if (values := _values(results, name)) and not any(values)
    ]
    return list(dict.fromkeys(titles))


def column_scale(values: Sequence[float], unit: Unit) -> Scale:
    """Return the common unit that suits these values of one quantity."""
    sizes = [abs(value) for value in values if value and math.isfinite(value)]
    scale = unit.value
    if not sizes:
        return scale
    least, largest = min(sizes), max(sizes)
    if unit is Unit.RATE and (largest < SLOW_BPS or least < LEAST_SHOWN * scale.base_units):
        return MULTIPLES[unit][0]
    for larger in MULTIPLES.get(unit, ())[2:]:
        if largest >= DIGITS_MAX * scale.base_units and least >= LEAST_SHOWN * larger.base_units:
            scale = larger
    return scale


def _values(results: Results, name: str) -> list[float]:
    return [value for values in results.values.values() if (value := values[name]) is not None]


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
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class ReportTable:
    """One table with its CSV; the first `labels` columns name the row."""

    title: str
    caption: str
    labels: int
    head: tuple[Head, ...]
    rows: tuple[tuple[Value, ...], ...]
    csv_name: str
    csv_href: str


def metric_tables(results: Results) -> list[ReportTable]:
    """Return the tables of means, one per family, without empty ones."""
    tables = []
    for title, names in TABLES:
        columns = columns_of(results, names)
        if columns:
            tables.append(_table_of_means(results, title, columns))
    return tables


def table_of_runs(results: Results) -> ReportTable:
    """Return the table with every metric of every finished cell, one row per cell."""
    columns = columns_of(results, METRICS)
    names = [name for name in METRICS if results.has(name)]
    head = (Head("Cell"), Head("Seed"), *(metric_head(column) for column in columns))
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
    factors = factors_of(settings)
    head = (
        Head("Transport"),
        *(Head(factor_name(key).capitalize()) for key in factors),
        Head("n", meaning="Runs: finished repetitions with different seeds."),
        *(metric_head(column) for column in columns),
    )
    metrics = [column.metric for column in columns]
    rows = [_row_of_means(results, setting, factors, columns) for setting in settings]
    return ReportTable(
        title,
        _caption(results),
        1 + len(factors),
        head,
        tuple(rows),
        f"{results.run.manifest.name}-{title.lower().replace(' ', '-')}.csv",
        csv_of_means(results, metrics),
    )


def factors_of(settings: Sequence[Setting]) -> list[str]:
    """Return the keys of the factors."""
    return list(dict.fromkeys(key for setting in settings for key, _ in setting.factors))


def csv_of_means(results: Results, metrics: list[Metric]) -> str:
    """Return a link that holds the means of each setting as a CSV file."""
    settings = results.measured_settings
    factors = factors_of(settings)
    head = ["transport", *factors, "n"]
    for metric in metrics:
        head += [f"{metric.name}_{part}" for part in ("mean", "low95", "high95", "n")]
    return csv_href([head, *(_line_of_means(results, setting, factors, metrics) for setting in settings)])


def _caption(results: Results) -> str:
    counts = {len(results.views_of(setting)) for setting in results.measured_settings}
    if counts == {1}:
        below = "One run each: there is no interval."
    elif max(counts, default=0) <= SINGLE_VALUES_MAX:
        below = "Mean over n runs; below it the value of each run, because few runs have no interval."
    else:
        below = "Mean over n runs; below it the 95 % interval of the mean, by bootstrap over the runs."
        if min(counts) <= SINGLE_VALUES_MAX:
            below += f" Up to {SINGLE_VALUES_MAX} runs have no interval, but the value of each."
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
        *(mean_value(results, setting, column) for column in columns),
    )


def mean_value(results: Results, setting: Setting, column: Column) -> Value:
    """Return a mean in the unit of its column, and below it what is missing and its interval or values."""
    runs = len(results.views_of(setting))
    name, unit, scale = column.metric.name, column.metric.unit, column.scale
    mean = results.mean(setting, name)
    if mean is None:
        return Value(number_text(None, unit))
    text = written(results, setting, name, lambda value: number_text(value, unit, scale))
    notes = [lost_text(results, setting, name)] if not mean.exists or is_counted(name) else []
    if mean.has_interval:
        notes.append(" to ".join(number_text(end, unit, scale) for end in (mean.low, mean.high)))
    elif 1 < mean.n <= SINGLE_VALUES_MAX:
        notes.append(values_text(results, setting, name, scale))
    if mean.n != runs:
        notes.append(f"n = {mean.n}")
    return Value(text, "; ".join(filter(None, notes)))


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


def metric_head(column: Column) -> Head:
    """Return the head of a column of means."""
    return Head(column.metric.title, column.scale.symbol, column.metric.meaning)


def csv_href(rows: Iterable[CsvRow]) -> str:
    """Return a link that holds the rows as a CSV file."""
    buffer = io.StringIO()
    write_rows(rows, buffer)
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(buffer.getvalue().encode()).decode()


SETTINGS_BESIDE_MAX: Final = 5
"""Up to this many settings are columns and measures rows; with more settings they are transposed."""


def latex_tables(results: Results) -> dict[str, str]:
    """Return the text of each table of means by the name of its file, `table-goodput.tex`."""
    return {f"{table_anchor(table.title)}.tex": latex_table(table) for table in metric_tables(results)}


def latex_table(table: ReportTable) -> str:
    r"""Return one table as a `tabular`, below a comment with its caption."""
    heads = [_with_unit(head) for head in table.head]
    rows = [[_field(value) for value in row] for row in table.rows]
    labels = table.labels
    lines = [heads, *rows]
    if len(rows) <= SETTINGS_BESIDE_MAX:
        lines, labels = [list(column) for column in zip(*lines, strict=True)], 1
    body = [f"{' & '.join(line)} \\\\" for line in lines]
    columns = "l" * labels + "r" * (len(lines[0]) - labels)
    rules = [body[0], "\\midrule", *body[1:]]
    return "\n".join(
        [
            f"% {latex_text(table.title)}. {latex_text(table.caption)}",
            "% In the preamble: \\usepackage{booktabs}",
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            *rules,
            "\\bottomrule",
            "\\end{tabular}",
            "",
        ]
    )


def _with_unit(head: Head) -> str:
    return latex_text(f"{head.text} ({head.unit})" if head.unit else head.text)


def _field(value: Value) -> str:
    note = f" {{\\footnotesize ({latex_text(value.note)})}}" if value.note else ""
    return f"{latex_text(value.text)}{note}"
