"""Tests: compare a run's directory with its manifest."""

import os
import socket
from pathlib import Path

import pytest
from helpers.hostile_inputs import deep_folders
from helpers.small_runs import cell, cell_record, failed_record, manifest

from rogue.harness.results import verification
from rogue.harness.results.cell_directory import store_cell
from rogue.harness.results.files import DEPTH_MAX
from rogue.harness.results.run_directory import CELLS, cell_checksums
from rogue.harness.results.verification import NAMED_MAX, check_files, compare_files, compare_run
from rogue.workloads.manifest import MANIFEST, Manifest
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


def test_whatever_is_no_file_is_told(run: Path, listed: dict[str, str]) -> None:
    os.mkfifo(run / "pipe")
    (run / "null").symlink_to("/dev/null")
    (run / "dangling").symlink_to("nowhere")
    (run / "folder").symlink_to("/")
    (run / "cells/.writing-link").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        place = os.open(run, os.O_RDONLY)  # a socket's name has few letters
        listener.bind(f"/proc/self/fd/{place}/socket")
        os.close(place)
    assert check_files(run, listed) == [
        "cells/.writing-link: a link to a device, not in the manifest",
        "dangling: a link to nothing, not in the manifest",
        "folder: a link to a folder, not in the manifest",
        "null: a link to a device, not in the manifest",
        "pipe: a pipe, not in the manifest",
        "socket: a socket, not in the manifest",
    ]


def test_a_listed_file_that_became_something_else_is_told(run: Path, listed: dict[str, str]) -> None:
    file = run / "cells/rogue-r1/flows.parquet"
    for make, words in (
        (lambda: os.mkfifo(file), "a pipe, expected a file"),
        (lambda: file.symlink_to("/dev/zero"), "a link to a device, expected a file"),
        (lambda: file.symlink_to("gone"), "a link to nothing, expected a file"),
    ):
        file.unlink()
        make()
        assert check_files(run, listed) == [f"cells/rogue-r1/flows.parquet: {words}"]


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


def test_a_file_of_two_terabytes_is_told_by_its_size(
    run: Path, listed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    os.truncate(run / "cells/rogue-r1/flows.parquet", 2 * 10**12)
    (run / "cells/rogue-r1/more").touch()
    os.truncate(run / "cells/rogue-r1/more", 2 * 10**12)
    read: list[str] = []
    monkeypatch.setattr(verification, "checksum", lambda path: read.append(path.name) or listed_digest(path))

    def listed_digest(path: Path) -> str:
        return listed[path.relative_to(run).as_posix()]

    assert check_files(run, listed) == [
        "cells/rogue-r1/flows.parquet: larger than any file of a run (2000000000000 bytes)",
        "cells/rogue-r1/more: not in the manifest",
    ]
    assert sorted(read) == ["cell.json", "cell.json", "traceback.txt"]


def test_a_folder_deeper_than_any_of_a_run_is_told_once(run: Path, listed: dict[str, str]) -> None:
    deepest = "/".join(["cells/rogue-r1", *["d"] * (DEPTH_MAX - 2)])
    with deep_folders(run / "cells/rogue-r1", 1100):
        told = check_files(run, listed)
    assert told == [f"{deepest}: a folder deeper than any of a run, not in the manifest"]


def test_a_wide_folder_is_told_in_few_words(run: Path, listed: dict[str, str]) -> None:
    for number in range(100):
        (run / f"cells/rogue-r1/{number:04}").touch()
    told = check_files(run, listed)
    assert told[0] == "cells/rogue-r1/0000: not in the manifest"
    assert told[-1] == "cells/rogue-r1: 80 more not in the manifest"
    assert len(told) == NAMED_MAX + 1


def test_what_a_write_has_left_is_told_apart(run: Path, listed: dict[str, str]) -> None:
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


def test_a_cell_is_held_against_its_own_record(run: Path, listed: dict[str, str]) -> None:
    told = Manifest.model_validate(manifest([cell()]))
    told.cells = [cell_record(status=CellStatus.OK, failed_attempts=["rogue-r1.failed-1"])]
    told.files = listed
    assert compare_run(run, told).differences == []
    told.cells[0].seed = 77
    told.cells[0].facts["qp_failures"] = 1
    assert list(map(str, compare_run(run, told).differences)) == [
        "cells/rogue-r1/cell.json: says otherwise than the manifest: seed, facts"
    ]


def test_a_kind_that_is_no_name_is_damage(run: Path, listed: dict[str, str]) -> None:
    kinds: dict[str, object] = {
        "workload": {"kind": ["incast"]},
        "traffic": [{"workload": {"kind": {}}}, {"workload": {"kind": "incast"}}, 3],
        "faults": [{"kind": 1}],
        "topology": "star",
        "probe": None,
    }
    told = Manifest.model_validate(manifest([], experiment=kinds, files=listed))
    words = "manifest.json: the experiment has a kind that is no name: "
    assert list(map(str, compare_run(run, told).differences)) == [
        f"{words}{kind}" for kind in ("dict", "int", "list")
    ]
