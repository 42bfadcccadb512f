"""Tests: files of cells, and CSV."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from helpers.experiments import RECORDED, simulated
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import cell, filled, manifest, transfer

from rogue.harness.results.tables import encode
from rogue.reports.errors import ReportError
from rogue.reports.export.cell_files import write_cell_files
from rogue.reports.export.csv_files import csv_text, export, harmless, write_rows
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.results.loaded import BASE_UNITS
from rogue.workloads.records import TABLES


@pytest.mark.parametrize(
    "text", ["=1+1", "+A1", "-A1", "-1-1", "@x", "\tx", "\rx", "\nx", "＝1", "-", "-.", "+1e"]
)
def test_formula_gets_an_apostrophe(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x;=cmd", "x;'=cmd"),
        ("a;-1;@b", "a;'-1;'@b"),
        ("a\t=1", "a\t'=1"),
        ("a\r=1", "a\r'=1"),
        ('a;"=1"', 'a;\'"=1"'),
        ("a; =1", "a;' =1"),
        ("\t=1", "'\t'=1"),
        ("=a;=b", "'=a;'=b"),
    ],
)
def test_formula_after_another_separator_gets_an_apostrophe(text: str, written: str) -> None:
    assert harmless(text) == written


@pytest.mark.parametrize(
    "field", ["-1.5", "+1", "-.5e-3", "", "a=1", "main/h0->h1", "a; b", "a;b=1", -1.5, -1, None]
)
def test_numbers_and_other_texts_stay(field: object) -> None:
    assert harmless(field) is field


def test_rows_are_escaped() -> None:
    file = io.StringIO()
    write_rows([["=head", "b"], ["a,\n=b", -1.5], [None, "@x"]], file)
    assert file.getvalue() == "'=head,b\n\"a,\n'=b\",-1.5\n,'@x\n"


def test_frame_is_not_changed() -> None:
    frame = pd.DataFrame({"=a": ["=1", "b"], "c": [-1.5, 2.0], "d": pd.Categorical(["@x", "y"])})
    before = frame.copy()
    assert csv_text(frame) == "'=a,c,d\n'=1,-1.5,'@x\nb,2.0,y\n"
    pd.testing.assert_frame_equal(frame, before)


def test_duplicate_column_names_are_kept() -> None:
    assert csv_text(pd.DataFrame([["=1", "=2"]], columns=["=a", "=a"])) == "'=a,'=a\n'=1,'=2\n"


def tiny(directory: Path) -> Results:
    """Two finished cells of one transfer each at two factor points, and one that failed."""
    cells = [
        cell(f"rogue-{n}-r1", factors={"workload.senders": n}, facts={"answer": 42} if n == 2 else {})
        for n in (2, 4)
    ]
    failed = cell("rogue-8-r1", factors={"workload.senders": 8}, status="failed", message='a, b\n"c"')
    for entry in cells:
        lost = transfer("main/h0->h1", status="unfinished", end_ns=None)
        rows = filled("flows", [transfer("main/h0->h1", fct_ns=2 * 10**9 + 1), lost])
        write_table(directory / "cells" / str(entry["id"]) / "flows.parquet", "flows", rows)
    write_manifest(directory, manifest([*cells, failed]))
    return Results(Run(directory))


def test_csv_tables_name_the_cell_of_each_row(tmp_path: Path) -> None:
    names = export(tiny(tmp_path / "run"), tmp_path / "out")
    assert names == ["cells.csv", "columns.csv", "flows.csv", "metrics.csv"]
    flows = pd.read_csv(tmp_path / "out" / "flows.csv")
    key = ["cell", "cell_transport", "factor.workload.senders", "cell_repetition"]
    assert list(flows) == [*key, *TABLES["flows"].column_names()]
    assert list(flows["factor.workload.senders"]) == [2, 2, 4, 4]
    lines = (tmp_path / "out" / "flows.csv").read_text().splitlines()
    assert ",2000000001," in lines[1]  # to the nanosecond, although others have none
    assert list(flows["fct_ns"].isna()) == [False, True, False, True]


def test_no_text_of_a_run_is_a_formula(tmp_path: Path) -> None:
    """Labels, factors, facts, flows and names of columns are text of the author of the run."""
    bad = cell("one-r1", transport="=1+1", factors={"@a": "-1.5", "b": "+A1"}, facts={"=f": "\rx"})
    write_table(tmp_path / "run/cells/one-r1/flows.parquet", "flows", filled("flows", [transfer("=2+2")]))
    write_manifest(tmp_path / "run", manifest([bad]))
    export(Results(Run(tmp_path / "run")), tmp_path / "out")
    for name in ("cells.csv", "metrics.csv", "flows.csv"):
        with (tmp_path / "out" / name).open(newline="") as file:
            head, *rows = csv.reader(file)
        assert head[:4] == ["cell", "cell_transport", "factor.@a", "factor.b"]
        assert rows
        assert all(row[:4] == ["one-r1", "'=1+1", "-1.5", "'+A1"] for row in rows)
        fields = {field for row in [head, *rows] for field in row}
        assert not [each for each in fields if each.startswith(("=", "+", "@", "\t", "\r"))]


def test_cells_file_has_status_and_message(tmp_path: Path) -> None:
    export(tiny(tmp_path / "run"), tmp_path / "out")
    cells = pd.read_csv(tmp_path / "out" / "cells.csv")
    assert list(cells["status"]) == ["ok", "ok", "failed"]
    assert cells["message"][2] == 'a, b\n"c"'
    assert list(cells["fact.answer"].fillna(0)) == [42, 0, 0]


def test_measures_are_in_base_units(tmp_path: Path, results: Results) -> None:
    export(results, tmp_path / "out")
    measures = pd.read_csv(tmp_path / "out" / "metrics.csv")
    for row in measures.itertuples():
        assert row.value == pytest.approx(results.values[row.cell][row.metric])
    assert set(measures["unit"]) <= set(BASE_UNITS.values())
    assert set(measures["cell"]) == set(results.views)


def test_every_column_is_explained(tmp_path: Path, results: Results) -> None:
    names = export(results, tmp_path / "out")
    explained = pd.read_csv(tmp_path / "out" / "columns.csv").groupby("file")["column"].apply(set)
    for name in set(names) - {"columns.csv", "cells.csv"}:
        columns = pd.read_csv(tmp_path / "out" / name, nrows=0).columns
        assert {each for each in columns if not each.startswith("factor.")} <= explained[name]


def test_nothing_is_left_of_an_export_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("no space left")

    results = tiny(tmp_path / "run")
    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with pytest.raises(OSError, match="no space left"):
        export(results, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


FACTS = {"framing": "rocev2", "packets_missed": 7}


def two_cells(directory: Path) -> Results:
    """One cell with packets, and one without."""
    cells = [cell("roce-r1", facts=FACTS), cell("roce-r2", repetition=2, facts={"framing": "rocev2"})]
    for entry in cells:
        rows = filled("flows", [transfer("main/h0->h1")])
        write_table(directory / "cells" / str(entry["id"]) / "flows.parquet", "flows", rows)
    tables = {"packets": simulated(directory, text=RECORDED).tables["packets"]}
    (directory / "cells" / "roce-r1" / "packets.parquet").write_bytes(encode(tables)["packets.parquet"])
    write_manifest(directory, manifest(cells))
    return Results(Run(directory))


def test_cells_with_packets_become_captures(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    names, notes = write_cell_files(two_cells(run), "pcap", tmp_path / "out", ())
    assert names == ["roce-r1.pcapng"]
    assert (tmp_path / "out" / "roce-r1.pcapng").read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    assert "that a queue refused" in notes[0]
    assert notes[1].startswith("roce-r1: the bound was hit: 7 more packets")


def test_a_cell_that_was_named_must_have_packets(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    results = two_cells(run)
    with pytest.raises(ReportError, match="roce-r2 recorded no packets"):
        write_cell_files(results, "pcap", tmp_path / "out", ("roce-r2",))
    with pytest.raises(
        ReportError, match="nonsense has no result in this run; expected a cell such as roce-r1"
    ):
        write_cell_files(results, "pcap", tmp_path / "out", ("nonsense",))
    assert not list(tmp_path.glob("*out*"))
