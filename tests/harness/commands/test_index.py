"""The page of all runs is written anew, and costs nothing if it cannot be."""

import fcntl
import json
import os
from pathlib import Path

import pytest
from helpers.tiny_run import cell, manifest

from rogue.harness.commands import manage_runs
from rogue.harness.commands.manage_runs import update_index, update_index_of


def make(results: Path) -> Path:
    run = results / "tiny/20261120T101500Z-000001"
    run.mkdir(parents=True)
    told = manifest([cell()], git={"commit": None, "dirty": None}, sessions=[], versions={})
    told |= {"source": {"file": "x.yaml", "sha256": "", "set": [], "data": {}}}
    told |= {"host": {"cpu": None, "cores": 1, "memory_bytes": None, "kernel": "Linux"}}
    told["cells"] = [{**cell(), "transport_name": "rogue"}]
    (run / "manifest.json").write_text(json.dumps(told))
    return run


def test_the_results_of_a_run_get_their_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make(tmp_path)
    update_index_of([run, run])
    assert run.name in (tmp_path / "index.html").read_text()
    assert capsys.readouterr() == ("", "")


def test_a_run_elsewhere_gets_none(tmp_path: Path) -> None:
    run = make(tmp_path).rename(tmp_path / "copy")
    update_index_of([run, tmp_path / "gone"])
    assert not list(tmp_path.rglob("index.html"))


def test_a_page_that_cannot_be_written_costs_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "index.html").write_text("mine")
    update_index(tmp_path)
    update_index(tmp_path / "gone")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("rogue: the list of runs was not written (ReportError: ")
    assert second.startswith("rogue: the list of runs was not written (FileNotFoundError: ")
    assert (tmp_path / "index.html").read_text() == "mine"


def test_somebody_who_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manage_runs, "PATIENCE_SECONDS", 0.0)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    update_index(tmp_path)
    os.close(descriptor)
    assert (tmp_path / "index.html").exists()
