"""Tests: open the runs, inventories and output files that a command names."""

from pathlib import Path

import pytest
from helpers.small_runs import cell, manifest

from rogue.harness.commands.export import export
from rogue.harness.commands.opening import refuse_damage, write_output
from rogue.harness.commands.report import compare, report
from rogue.harness.errors import DamagedRunError, StorageError
from rogue.harness.results.manifest import write_manifest
from rogue.harness.results.run_directory import checksums
from rogue.harness.results.verification import check_files
from rogue.workloads.manifest import Manifest
from rogue.workloads.records import CellStatus


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    (directory / "cells" / "a").mkdir(parents=True)
    (directory / "cells" / "a" / "flows.parquet").write_bytes(b"table")
    told = Manifest.model_validate(manifest([cell()]))
    told.files = checksums(directory)
    write_manifest(directory, told)
    return directory


def flipped(run: Path) -> None:
    (run / "cells" / "a" / "flows.parquet").write_bytes(b"tabld")


def unlisted(run: Path) -> None:
    write_manifest(run, Manifest.model_validate(manifest([cell()])))


def gone(run: Path) -> None:
    (run / "cells" / "a" / "flows.parquet").unlink()


@pytest.mark.parametrize("damage", [flipped, unlisted, gone])
def test_nothing_is_said_about_a_damaged_run(
    run: Path, damage: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(damage)
    damage(run)
    for command in (
        lambda: report([run]),
        lambda: export(run),
        lambda: compare(run, run),
    ):
        with pytest.raises(
            DamagedRunError, match=r"1 file is not as .*\n.*flows\.parquet.*\n.*--accept-damage"
        ):
            command()
    refuse_damage([run], is_accepted=True)
    assert "flows.parquet" in capsys.readouterr().err


def test_what_our_own_failures_leave_is_no_damage(run: Path) -> None:
    told = Manifest.model_validate(manifest([cell()]))
    told.files = checksums(run)
    told.files.pop("manifest.json")
    for name in (
        ".report.html.17.partial",
        ".claims.json.1.partial",
        "manifest.json.sig",
        ".writing-manifest.json",
    ):
        (run / name).write_text("x")
    assert check_files(run, told.files) == []
    (run / "report.html").write_text("edited")
    write_manifest(run, told)
    refuse_damage([run], is_accepted=False)


def test_a_run_that_was_killed_is_not_damaged(run: Path) -> None:
    """Its last cells are in no manifest yet."""
    told = Manifest.model_validate(manifest([cell()], status="running"))
    stored = told.cells[0].model_dump_json()
    told.cells[0].status = CellStatus.PENDING
    write_manifest(run, told)
    directory = run / "cells" / told.cells[0].id
    (run / "cells" / "a").rename(directory)
    (directory / "cell.json").write_text(stored)
    refuse_damage([run], is_accepted=False)


def test_a_file_of_ones_own_beside_the_cells_is_no_damage(run: Path) -> None:
    (run / "notes.txt").write_text("mine")
    refuse_damage([run], is_accepted=False)


def test_two_files_are_counted_and_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flipped(run)
    (run / "cells" / "a" / "more.parquet").write_bytes(b"")
    refuse_damage([run], is_accepted=True)
    said = capsys.readouterr().err
    assert said.startswith(f"rogue: {run}: 2 files are not as the run wrote them:\n  cells/a/")


def test_directories_above_are_made_and_an_earlier_file_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "new/below/claims.json"
    for text in ("earlier\n", "µs\n"):
        write_output(file, text)
    assert file.read_text(encoding="utf-8") == "µs\n"
    assert [each.name for each in file.parent.iterdir()] == ["claims.json"]


def test_what_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as caught:
        write_output(tmp_path / "file/cards.json", "{}")
    got = "got 'File exists', expected a file to write; name another."
    assert str(caught.value) == f"{tmp_path}/file/cards.json: {got}"
