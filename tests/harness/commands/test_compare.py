"""Comparing runs of which a part cannot be read: each problem is told with its run."""

from pathlib import Path

import pytest
from helpers.sample_run import write_manifest, write_table
from helpers.small_runs import SECOND, cell, filled, manifest, transfer

from rogue.harness.commands.report import compare
from rogue.harness.errors import UsageError

FILE = "cells/rogue-r1/flows.parquet"


def written(directory: Path, *, is_readable: bool = True) -> Path:
    """A run of one cell, whose manifest promises the table that is there."""
    write_table(directory / FILE, "flows", filled("flows", [transfer("main/h0->h1", fct_ns=SECOND)]))
    if not is_readable:
        (directory / FILE).write_bytes(b"PAR1 or not")
    write_manifest(directory, manifest([cell()]))
    return directory


def test_runs_that_can_be_read_are_compared_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare(written(tmp_path / "a"), written(tmp_path / "b"), everything=True)
    said = capsys.readouterr()
    assert said.err == ""
    assert "identical, run by run" in said.out


def test_a_table_that_cannot_be_read_is_told_though_nothing_is_left_to_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its checksum is right: nothing but reading finds it."""
    runs = written(tmp_path / "a"), written(tmp_path / "b", is_readable=False)
    with pytest.raises(UsageError, match="expected two runs with a transport and factor point in common"):
        compare(*runs, everything=True)
    said = capsys.readouterr().err
    assert said.startswith(f"rogue: {runs[1]}: {FILE} is not a readable Parquet file (")
    assert said.count("\n") == 1


def test_a_page_is_written_where_it_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = written(tmp_path / "a"), written(tmp_path / "b")
    page = tmp_path / "page.html"
    compare(*runs, html=page)
    assert capsys.readouterr().err.endswith(f"page: {page}\n")
    assert "RoGUE testbed · two runs" in page.read_text()
    nowhere = tmp_path / "nowhere" / "page.html"
    with pytest.raises(UsageError, match="expected a file in a directory that exists"):
        compare(*runs, html=nowhere)
