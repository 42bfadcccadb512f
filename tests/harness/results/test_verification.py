"""Compare a run's directory with its manifest: the differences, and what `rogue verify` prints."""

import os
from pathlib import Path

import pytest
from helpers.small_runs import cell_record, check_files, failed_record, manifest_of

from rogue.harness.commands.verify import SHOWN_MAX, verify
from rogue.harness.errors import ExitCode
from rogue.harness.results.run_directory import CELLS, cell_checksums, locked, store_cell, write_manifest
from rogue.harness.results.verification import compare_files
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.records import CellStatus

Shown = pytest.CaptureFixture[str]
FLOWS = "cells/rogue-r1/flows.parquet"


def make(run: Path, status: str = "complete", **changes: object) -> Path:
    """Write a run of one finished cell with a failed attempt."""
    (run / CELLS).mkdir(parents=True)
    store_cell(run / CELLS, failed_record(), {"raw/traceback.txt": b"x"})
    attempts = ["rogue-r1.failed-1"]
    record = cell_record(status=CellStatus.OK, facts={"qp_failures": 0}, failed_attempts=attempts)
    store_cell(run / CELLS, record, {"flows.parquet": b"y"})
    made = manifest_of([record], status=status, **changes)
    made.files = cell_checksums(run, record)
    write_manifest(run, made)
    return run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make(tmp_path / "run")


@pytest.fixture
def listed(run: Path) -> dict[str, str]:
    return cell_checksums(run, cell_record(failed_attempts=["rogue-r1.failed-1"]))


def test_each_kind_of_damage_is_reported(run: Path, listed: dict[str, str]) -> None:
    assert check_files(run, listed) == []
    (run / FLOWS).write_bytes(b"z")
    (run / "cells/rogue-r1.failed-1/raw/traceback.txt").unlink()
    (run / "cells/rogue-r1/extra").write_bytes(b"")
    assert check_files(run, listed) == [
        "cells/rogue-r1.failed-1/raw/traceback.txt: missing",
        "cells/rogue-r1/extra: not in the manifest",
        f"{FLOWS}: changed",
    ]


def test_a_link_to_a_folder_is_not_followed(run: Path, listed: dict[str, str]) -> None:
    (run / "folder").symlink_to("/")
    (run / "dangling").symlink_to("nowhere")
    assert check_files(run, listed) == ["dangling: not in the manifest", "folder: not in the manifest"]


def test_listed_file_of_another_type_is_not_read(run: Path, listed: dict[str, str]) -> None:
    file = run / FLOWS
    for make, words in (
        (lambda: os.mkfifo(file), "it is no regular file"),
        (lambda: file.symlink_to("/dev/zero"), "it is no regular file"),
        (lambda: file.symlink_to("gone"), "No such file or directory"),
        (lambda: (file.touch(), os.truncate(file, 2 * 10**12)), "it has more than 4000000000 bytes"),
    ):
        file.unlink()
        make()
        assert check_files(run, listed) == [f"{FLOWS}: cannot be read ({words})"]


def test_temporary_files_are_listed_separately(run: Path, listed: dict[str, str], capsys: Shown) -> None:
    (run / ".writing-manifest.json").touch()
    assert verify([run]) is ExitCode.OK
    left = "a temporary file of a write that was stopped; it may be deleted"
    assert f"{run}/.writing-manifest.json: {left}\n" in capsys.readouterr().out
    (run / "cells/.writing-b-r1/raw").mkdir(parents=True)
    (run / "cells/.writing-b-r1/raw/log").touch()
    (run / "cells/rogue-r1/.writing-flows.parquet").touch()
    compared = compare_files(run, listed)
    assert compared.leftovers == {".writing-manifest.json", "cells/.writing-b-r1"}
    assert list(map(str, compared.differences)) == [
        "cells/rogue-r1/.writing-flows.parquet: not in the manifest"
    ]


def test_worst_exit_code_of_several_runs(run: Path, capsys: Shown) -> None:
    damaged, gone = make(run.with_name("b")), run.with_name("c")
    (damaged / MANIFEST).write_text((damaged / MANIFEST).read_text().replace("qp_failures", "qp_fai|ures"))
    assert verify([run, damaged, run, gone]) is ExitCode.DAMAGED
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        f"{run}: 4 files as in the manifest",
        f"{damaged}/manifest.json: changed since it was written: its checksum differs",
    ]
    first, second = printed.err.splitlines()
    assert first == f"rogue: {damaged}: 1 difference from the manifest."
    assert second.startswith(f"rogue: {gone}/manifest.json: got 'No such file or directory'")
    assert verify([gone, run]) is ExitCode.USAGE
    assert verify([run]) is ExitCode.OK


@pytest.mark.parametrize("content", [b"{", b'{"schema_version": 7, "x": 1e999}', b"[" * 300 + b"]" * 300])
def test_a_manifest_that_cannot_be_read_is_damage(run: Path, content: bytes, capsys: Shown) -> None:
    (run / MANIFEST).write_bytes(content)
    assert verify([run]) is ExitCode.DAMAGED
    assert capsys.readouterr().err.startswith(f"rogue: {run}/manifest.json: got ")


def test_oversized_manifest_is_damage(run: Path, capsys: Shown) -> None:
    os.truncate(run / MANIFEST, 2 * 10**12)
    assert verify([run]) is ExitCode.DAMAGED
    assert "it has more than 256000000 bytes" in capsys.readouterr().err


def test_an_old_manifest_has_no_checksum(tmp_path: Path, capsys: Shown) -> None:
    run = make(tmp_path / "old", schema_version=6)
    assert verify([run]) is ExitCode.OK
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{run}: the manifest has no checksum")
    assert second == f"{run}: 4 files as in the manifest"


def test_run_in_progress_is_compared_so_far(tmp_path: Path, capsys: Shown) -> None:
    run = make(tmp_path / "goes", status="running")
    (run / CELLS / ".writing-rogue-r2").mkdir()
    (run / CELLS / "rogue-r2").mkdir()
    (run / CELLS / "rogue-r2/flows.parquet").touch()
    with locked(run):
        assert verify([run]) is ExitCode.OK
        line = f"{run}: 4 files as in the manifest so far; another process works on this run\n"
        assert capsys.readouterr().out == line
        (run / FLOWS).write_bytes(b"z")
        assert verify([run]) is ExitCode.DAMAGED


def test_output_is_bounded_and_names_are_escaped(
    run: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.parent)
    own = Path(run.name)
    for number in range(SHOWN_MAX + 1):
        (own / f"{number:03}").mkdir()
        (own / f"{number:03}" / f"x\n{own}: 4 files as in the manifest\u202e").touch()
    assert verify([own]) is ExitCode.DAMAGED
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == SHOWN_MAX + 1
    assert f"{own}: 4 files as in the manifest" not in lines
    assert lines[-1] == f"{own}: ... and 1 more"


def test_a_file_may_be_a_link_to_its_content(
    run: Path, listed: dict[str, str], tmp_path: Path, capsys: Shown
) -> None:
    """As tools that keep large files elsewhere have it."""
    file = run / FLOWS
    file.rename(tmp_path / "kept")
    file.symlink_to(tmp_path / "kept")
    assert verify([run]) is ExitCode.OK
    assert capsys.readouterr().out.splitlines()[0] == (
        f"{file}: a link; its target is as in the manifest, and is outside of the run"
    )
    (tmp_path / "kept").write_text("other")
    assert compare_files(run, listed).links == set()
