"""Tests: the tables of a report, as HTML, CSV and LaTeX."""

import base64
import csv
import io
import math
import subprocess
from pathlib import Path

import pytest
from helpers.needs import path_of
from helpers.sample_run import Sample, write_sample_run
from helpers.small_runs import SECOND, delivery, tiny_view, transfer

from rogue.reports.metrics import METRICS
from rogue.reports.pages.tables import (
    Head,
    ReportTable,
    Value,
    column_scale,
    columns_of,
    csv_href,
    latex_table,
    latex_tables,
    metric_tables,
    table_of_runs,
    zero_in_every_run,
)
from rogue.reports.quantities import NARROW_SPACE, Unit, number_text
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def read_csv(href: str) -> list[dict[str, str]]:
    kind, content = href.split(",", 1)
    assert kind == "data:text/csv;charset=utf-8;base64"
    return list(csv.DictReader(io.StringIO(base64.b64decode(content).decode())))


def table_named(tables: list[ReportTable], title: str) -> ReportTable:
    return next(table for table in tables if table.title == title)


def test_table_has_means_runs_and_values(results: Results) -> None:
    table = table_named(metric_tables(results), "Delay and queue")
    assert [head.text for head in table.head[:3]] == ["Transport", "n", "Probe p10"]
    rogue, roce = table.rows
    assert [value.text for value in rogue[:3]] == ["RoGUE", "3", "58.2"]
    assert rogue[3].note == "71.2, 70.9, 71.1"
    assert roce[1].text == "2"


def test_csv_has_what_the_page_rounds(results: Results) -> None:
    table = table_named(metric_tables(results), "Delay and queue")
    line = read_csv(table.csv_href)[0]
    mean = results.mean(results.measured_settings[0], "probe_p50_ns")
    assert mean is not None
    assert line["transport"] == "rogue"
    assert float(line["probe_p50_ns_mean"]) == mean.mean
    assert line["probe_p50_ns_low95"] == ""  # three runs have no interval
    assert line["probe_p50_ns_n"] == "3"


def test_column_without_any_value_is_left_out(tmp_path: Path) -> None:
    sample = Sample(transports=("roce",), repetitions=1, seconds=1.0)
    tables = metric_tables(Results(Run(write_sample_run(tmp_path, sample))))
    assert "What the agent believes" not in [table.title for table in tables]
    assert all(table.caption == "One run each: there is no interval." for table in tables)
    notes = {value.note for table in tables for row in table.rows for value in row}
    assert all(note == "" or note.endswith(("lost", "unfinished")) for note in notes)


def test_value_that_another_transport_has_is_a_dash(results: Results) -> None:
    table = table_named(metric_tables(results), "What the agent believes")
    assert [value.text for value in table.rows[1][2:]] == ["–"] * 9
    assert read_csv(table.csv_href)[1]["rtt_p50_ns_mean"] == ""


def test_factors_are_columns(sweep: Results) -> None:
    table = metric_tables(sweep)[0]
    assert [head.text for head in table.head[:3]] == ["Transport", "Senders", "n"]
    assert table.labels == 2
    assert [row[1].text for row in table.rows] == ["2", "2", "4", "4"]
    assert {line["workload.senders"] for line in read_csv(table.csv_href)} == {"2", "4"}


def test_every_run_is_one_row(results: Results) -> None:
    table = table_of_runs(results)
    lines = read_csv(table.csv_href)
    assert [line["cell"] for line in lines] == [row[0].text for row in table.rows] == list(results.views)
    assert [line["seed"] for line in lines] == ["1", "1", "2", "2", "3"]
    assert all(len(row) == len(table.head) for row in table.rows)


def test_name_is_not_a_formula() -> None:
    content = base64.b64decode(csv_href([["=1+1", -1.5]]).split(",", 1)[1]).decode()
    assert next(csv.reader(io.StringIO(content))) == ["'=1+1", "-1.5"]


@pytest.mark.parametrize(
    ("values", "unit", "symbol"),
    [
        ([71e3, 99_999e3], Unit.TIME, "µs"),
        ([71e3, 100_000e3], Unit.TIME, "ms"),
        ([90.6e3, 2.94e9], Unit.TIME, "ms"),  # 90.6 µs is 0.091 ms, but nothing in seconds
        ([2e9, 300e9], Unit.TIME, "s"),
        ([0.5e3, 100_000e3], Unit.TIME, "µs"),  # in milliseconds the least value would read 0
        ([0.0, -71e3, 200_000e3], Unit.TIME, "ms"),
        ([71e3, math.inf], Unit.TIME, "µs"),
        ([99_999e3], Unit.BYTES, "KB"),
        ([4.5e6, 128e6], Unit.BYTES, "MB"),
        ([45.8e6, 99e6], Unit.RATE, "Mb/s"),
        ([45.8e6, 9.2e9], Unit.RATE, "Gb/s"),
        ([0.4e6, 9.2e9], Unit.RATE, "Mb/s"),
        ([5e9, 84e9], Unit.RATE, "Gb/s"),
        ([0.01, 0.9], Unit.PERCENT, "%"),
        ([5e7], Unit.COUNT, ""),
        ([], Unit.TIME, "µs"),
        ([math.inf], Unit.TIME, "µs"),
    ],
)
def test_unit_of_a_column(values: list[float], unit: Unit, symbol: str) -> None:
    assert column_scale(values, unit).symbol == symbol


def test_numbers_are_written_in_the_unit_of_their_column() -> None:
    scale = column_scale([90.6e3, 2.94e9], Unit.TIME)
    assert number_text(90.6e3, Unit.TIME, scale) == "0.091"
    assert number_text(2.94e9, Unit.TIME, scale) == f"2{NARROW_SPACE}940"


@pytest.fixture
def quiet(tmp_path: Path) -> Results:
    """A cell that carried something and sent nothing again."""
    flow = "main/h0->h1"
    tables = {"flows": [transfer(flow)], "throughput": [delivery(flow, n * SECOND, 500) for n in (1, 2)]}
    return Results(Run(tiny_view(tmp_path, tables, ideal_goodput_bps=8000).run.directory))


def test_zeros_are_named_and_no_column(quiet: Results) -> None:
    shown = {column.metric.name for column in columns_of(quiet, METRICS)}
    (values,) = quiet.values.values()
    zeros = {name for name, value in values.items() if value == 0}
    assert zeros
    assert shown == {name for name, value in values.items() if value}
    assert set(zero_in_every_run(quiet)) == {METRICS[name].title for name in zeros}


def table(rows: int) -> ReportTable:
    """Return a table with a row per transport."""
    head = (Head("Transport"), Head("n"), Head("Of the ideal", "%"))
    values = tuple(
        (Value(f"A_{n}"), Value("5"), Value("9\u202f001", "8\u202f999 to 9\u202f003")) for n in range(rows)
    )
    return ReportTable("Goodput & more", "Mean over n runs.", 1, head, values, "x.csv", "data:,")


def test_few_transports_are_columns() -> None:
    assert latex_table(table(2)) == (
        "% Goodput \\& more. Mean over n runs.\n"
        "% In the preamble: \\usepackage{booktabs}\n"
        "\\begin{tabular}{lrr}\n"
        "\\toprule\n"
        "Transport & A\\_0 & A\\_1 \\\\\n"
        "\\midrule\n"
        "n & 5 & 5 \\\\\n"
        "Of the ideal (\\%) & 9\\,001 {\\footnotesize (8\\,999 to 9\\,003)}"
        " & 9\\,001 {\\footnotesize (8\\,999 to 9\\,003)} \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )


def test_many_transports_are_rows() -> None:
    lines = latex_table(table(6)).splitlines()
    assert lines[2] == "\\begin{tabular}{lrr}"
    assert lines[4] == "Transport & n & Of the ideal (\\%) \\\\"
    assert len(lines) == 5 + 1 + 6 + 2


@pytest.mark.needs("pdflatex")
def test_latex_accepts_the_tables(sweep: Results, tmp_path: Path) -> None:
    """With plain rules: Debian's texlive-latex-base has no booktabs."""
    files = latex_tables(sweep)
    assert "table-delay-and-queue.tex" in files
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    rules = [f"\\newcommand{{\\{name}rule}}{{\\hline}}" for name in ("top", "mid", "bottom")]
    lines = ["\\documentclass{article}", *rules, "\\begin{document}"]
    lines += [f"\\input{{{name}}}\n" for name in files]
    (tmp_path / "paper.tex").write_text("\n".join([*lines, "\\end{document}\n"]))
    command = [path_of("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-2000:]
