"""A run that is killed, and whose resumption is killed, or that fills its disk, ends with the same tables.

`make test-long` kills $ROGUE_KILLS times at random instants, and fills the disk as often.
"""

import os
from itertools import count
from pathlib import Path
from random import Random

import pytest
from helpers.fragile_run import End, Trouble, attempt, found_run

from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.verification import check_files
from rogue.workloads.records import CellStatus

KILLS = int(os.environ.get("ROGUE_KILLS", "300"))
EXPECTED = {Trouble.KILLED: End.KILLED, Trouble.DISK_FULL: End.TOLD}


def tables(directory: Path) -> dict[str, bytes]:
    """Content of each table of the run in a directory."""
    run = found_run(directory)
    assert run is not None
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.glob("cells/*/*.parquet"))}


def undisturbed(directory: Path) -> tuple[dict[str, bytes], int]:
    """What a run has that nothing happens to, and how many instants it has."""
    directory.mkdir()
    end, instants = attempt(directory)
    assert (end, instants > 40) == (End.DONE, True)
    return tables(directory), instants


def check_whole(directory: Path, expected: dict[str, bytes]) -> None:
    """The run is complete, verified, and has the same tables."""
    run = found_run(directory)
    assert run is not None
    manifest = read_manifest(run)
    assert manifest.status == "complete"
    assert {cell.status for cell in manifest.cells} == {CellStatus.OK}
    assert check_files(run, manifest.files) == []
    whole = {name: content for name, content in tables(directory).items() if ".failed-" not in name}
    assert whole == expected


def disturb(directory: Path, trouble: Trouble, instants: list[int]) -> int:
    """Make trouble at an instant of each attempt in turn, then go on in peace; how often it was met."""
    directory.mkdir()
    met = 0
    for at in instants:
        end, _ = attempt(directory, trouble, at)
        assert end in (EXPECTED[trouble], End.DONE), mistake(directory)
        met += end is EXPECTED[trouble]
    end, _ = attempt(directory)
    assert end is End.DONE, mistake(directory)
    return met


def mistake(directory: Path) -> str:
    told = directory / "traceback.txt"
    return told.read_text() if told.exists() else "it ended otherwise"


@pytest.mark.parametrize("trouble", EXPECTED)
def test_a_run_in_trouble_is_taken_up_again(tmp_path: Path, trouble: Trouble) -> None:
    expected, instants = undisturbed(tmp_path / "undisturbed")
    for number, at in enumerate(range(1, instants, instants // 8)):
        place = tmp_path / str(number)
        assert disturb(place, trouble, [at, instants - at]) > 0
        check_whole(place, expected)


@pytest.mark.long
@pytest.mark.parametrize("trouble", EXPECTED)
def test_a_run_in_trouble_again_and_again(tmp_path: Path, trouble: Trouble) -> None:
    expected, instants = undisturbed(tmp_path / "undisturbed")
    met = 0
    for number in count():
        random = Random(number)
        chosen = [random.randrange(1, instants) for _ in range(random.randrange(1, 5))]
        met += disturb(tmp_path / str(number), trouble, chosen)
        check_whole(tmp_path / str(number), expected)
        if met >= KILLS:
            break
