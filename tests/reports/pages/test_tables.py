"""Tables as shown, and as CSV."""

import base64
import csv
import io
from pathlib import Path

from helpers.sample_run import Sample, write_sample_run

from rogue.reports.pages.tables import ReportTable, csv_href, metric_tables, table_of_runs
from rogue.reports.reading.load import Run
from rogue.reports.results import Results


def read_csv(href: str) -> list[dict[str, str]]:
    kind, content = href.split(",", 1)
    assert kind == "data:text/csv;charset=utf-8;base64"
    return list(csv.DictReader(io.StringIO(base64.b64decode(content).decode())))


def table_named(tables: list[ReportTable], title: str) -> ReportTable:
    return next(table for table in tables if table.title == title)


def test_means_stand_with_runs_and_interval(results: Results) -> None:
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
    assert all(note == "" or note.endswith(("lost", "not completed")) for note in notes)


def test_value_that_another_transport_has_is_a_dash(results: Results) -> None:
    table = table_named(metric_tables(results), "What the agent believes")
    assert [value.text for value in table.rows[1][2:]] == ["–"] * 8
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
