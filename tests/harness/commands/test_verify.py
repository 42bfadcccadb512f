"""Tests: verify runs and sign their manifests."""

import os
from pathlib import Path

import pytest
from helpers.small_runs import cell_record, manifest_of

from rogue.harness.commands.verify import SHOWN_MAX, verify, verify_run
from rogue.harness.errors import ExitCode
from rogue.harness.results.cell_directory import store_cell
from rogue.harness.results.manifest import write_manifest
from rogue.harness.results.run_directory import CELLS, cell_checksums, locked
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.records import CellStatus

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make(tmp_path / "a")


def make(run: Path, status: str = "complete", **changes: object) -> Path:
    (run / CELLS).mkdir(parents=True)
    record = cell_record(status=CellStatus.OK, facts={"qp_failures": 0})
    store_cell(run / CELLS, record, {"flows.parquet": b"y"})
    told = manifest_of([record], status=status, **changes)
    told.files = cell_checksums(run, record)
    write_manifest(run, told)
    return run


def test_each_run_has_its_line_and_the_worst_code_is_that_of_all(run: Path, capsys: Shown) -> None:
    damaged, gone = make(run.with_name("b")), run.with_name("c")
    (damaged / MANIFEST).write_text((damaged / MANIFEST).read_text().replace("qp_failures", "qp_fai|ures"))
    assert verify([run, damaged, run, gone]) is ExitCode.DAMAGED
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        f"{run}: 2 files as in the manifest",
        f"{damaged}/manifest.json: changed since it was written: its checksum differs",
    ]
    first, second = said.err.splitlines()
    assert first == f"rogue: {damaged}: 1 difference from the manifest."
    assert second.startswith(f"rogue: {gone}/manifest.json: got 'No such file or directory'")
    assert verify([gone, run]) is ExitCode.USAGE
    assert verify([run]) is ExitCode.OK


@pytest.mark.parametrize("content", [b"{", b'{"schema_version": 7, "x": 1e999}', b"[" * 300 + b"]" * 300])
def test_a_manifest_that_is_none_any_more_is_damage(run: Path, content: bytes, capsys: Shown) -> None:
    (run / MANIFEST).write_bytes(content)
    assert verify([run]) is ExitCode.DAMAGED
    assert capsys.readouterr().err.startswith(f"rogue: {run}/manifest.json: got ")


def test_a_manifest_larger_than_any_is_damage(run: Path, capsys: Shown) -> None:
    os.truncate(run / MANIFEST, 2 * 10**12)
    assert verify([run]) is ExitCode.DAMAGED
    assert "it has more than 256000000 bytes" in capsys.readouterr().err


def test_an_old_manifest_is_told_to_have_no_checksum(tmp_path: Path, capsys: Shown) -> None:
    run = make(tmp_path / "old", schema_version=6)
    assert verify_run(run) is ExitCode.OK
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{run}: the manifest has no checksum")
    assert second == f"{run}: 2 files as in the manifest"


def test_what_a_stopped_write_has_left_is_told_and_no_damage(run: Path, capsys: Shown) -> None:
    (run / ".writing-manifest.json").touch()
    assert verify_run(run) is ExitCode.OK
    left = "a temporary file of a write that was stopped; it may be deleted"
    assert f"{run}/.writing-manifest.json: {left}\n" in capsys.readouterr().out


def test_a_run_that_goes_is_compared_as_far_as_it_is(tmp_path: Path, capsys: Shown) -> None:
    run = make(tmp_path / "goes", status="running")
    (run / CELLS / ".writing-rogue-r2").mkdir()
    (run / CELLS / "rogue-r2").mkdir()
    (run / CELLS / "rogue-r2/flows.parquet").touch()
    with locked(run):
        assert verify_run(run) is ExitCode.OK
        assert capsys.readouterr().out == (
            f"{run}: 2 files as in the manifest so far; another process works on this run\n"
        )
        (run / CELLS / "rogue-r1/flows.parquet").write_bytes(b"z")
        assert verify_run(run) is ExitCode.DAMAGED


def test_output_is_bounded_and_no_name_forges_a_line(
    run: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent)
    run = Path(run.name)
    for number in range(SHOWN_MAX + 1):
        (run / f"{number:03}").mkdir()
        (run / f"{number:03}" / f"x\n{run}: 2 files as in the manifest").touch()
    assert verify_run(run) is ExitCode.DAMAGED
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == SHOWN_MAX + 1
    assert f"{run}: 2 files as in the manifest" not in lines
    assert lines[-1] == f"{run}: ... and 1 more"


def test_a_file_that_is_a_link_is_told(run: Path, tmp_path: Path, capsys: Shown) -> None:
    file = run / "cells/rogue-r1/flows.parquet"
    file.rename(tmp_path / "kept")
    file.symlink_to(tmp_path / "kept")
    assert verify([run]) is ExitCode.OK
    assert capsys.readouterr().out.splitlines() == [
        f"{file}: a link; its target is as in the manifest, and is outside of the run",
        f"{run}: 2 files as in the manifest",
    ]
