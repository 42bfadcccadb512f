"""Tests: compare a run's directory with its manifest."""

import os
from pathlib import Path

import pytest
from helpers.small_runs import cell_record, failed_record

from rogue.harness.results.cell_directory import store_cell
from rogue.harness.results.run_directory import CELLS, cell_checksums
from rogue.harness.results.verification import check_files, compare_files
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.records import CellStatus


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    (directory / CELLS).mkdir(parents=True)
    (directory / MANIFEST).write_text("{}")
    store_cell(directory / CELLS, failed_record(), {"raw/traceback.txt": b"x"})
    store_cell(directory / CELLS, cell_record(status=CellStatus.OK), {"flows.parquet": b"y"})
    return directory


@pytest.fixture
def listed(run: Path) -> dict[str, str]:
    return cell_checksums(run, cell_record(failed_attempts=["rogue-r1.failed-1"]))


def test_an_untouched_run_is_as_listed(run: Path, listed: dict[str, str]) -> None:
    assert check_files(run, listed) == []


def test_every_kind_of_damage_is_named(run: Path, listed: dict[str, str]) -> None:
    (run / "cells/rogue-r1/flows.parquet").write_bytes(b"z")
    (run / "cells/rogue-r1.failed-1/raw/traceback.txt").unlink()
    (run / "cells/rogue-r1/extra").write_bytes(b"")
    assert check_files(run, listed) == [
        "cells/rogue-r1.failed-1/raw/traceback.txt: missing",
        "cells/rogue-r1/extra: not in the manifest",
        "cells/rogue-r1/flows.parquet: changed",
    ]


def test_a_link_to_a_folder_is_not_followed(run: Path, listed: dict[str, str]) -> None:
    (run / "folder").symlink_to("/")
    (run / "dangling").symlink_to("nowhere")
    assert check_files(run, listed) == ["dangling: not in the manifest", "folder: not in the manifest"]


def test_a_listed_file_that_became_something_else_is_not_read(run: Path, listed: dict[str, str]) -> None:
    file = run / "cells/rogue-r1/flows.parquet"
    for make, words in (
        (lambda: os.mkfifo(file), "cannot be read (it is no regular file)"),
        (lambda: file.symlink_to("/dev/zero"), "cannot be read (it is no regular file)"),
        (lambda: file.symlink_to("gone"), "cannot be read (No such file or directory)"),
    ):
        file.unlink()
        make()
        assert check_files(run, listed) == [f"cells/rogue-r1/flows.parquet: {words}"]


def test_a_sparse_file_of_two_terabytes_is_not_read(run: Path, listed: dict[str, str]) -> None:
    os.truncate(run / "cells/rogue-r1/flows.parquet", 2 * 10**12)
    assert check_files(run, listed) == [
        "cells/rogue-r1/flows.parquet: cannot be read (it has more than 4000000000 bytes)"
    ]


def test_a_file_may_be_a_link_to_its_content_and_is_told(
    run: Path, listed: dict[str, str], tmp_path: Path
) -> None:
    """As tools that keep large files elsewhere have it."""
    file = run / "cells/rogue-r1/flows.parquet"
    file.rename(tmp_path / "kept")
    file.symlink_to(tmp_path / "kept")
    compared = compare_files(run, listed)
    assert (compared.differences, compared.links) == ([], {"cells/rogue-r1/flows.parquet"})
    (tmp_path / "kept").write_text("other")
    assert compare_files(run, listed).links == set()


def test_what_a_write_has_left_is_other_differences(run: Path, listed: dict[str, str]) -> None:
    (run / ".writing-manifest.json").touch()
    (run / "cells/.writing-b-r1/raw").mkdir(parents=True)
    (run / "cells/.writing-b-r1/raw/log").touch()
    (run / "cells/rogue-r1/.writing-flows.parquet").touch()
    compared = compare_files(run, listed)
    assert compared.leftovers == {".writing-manifest.json", "cells/.writing-b-r1"}
    assert list(map(str, compared.differences)) == [
        "cells/rogue-r1/.writing-flows.parquet: not in the manifest"
    ]


def test_no_name_forges_a_line(run: Path, listed: dict[str, str]) -> None:
    (run / "x\nfine: 3 files as in the manifest\u202e").touch()
    assert check_files(run, listed) == ["x\ufffdfine: 3 files as in the manifest\ufffd: not in the manifest"]
