"""Tests: hostile inputs, and runs that break."""

import os
import resource
import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random
from types import FrameType

import pytest
from helpers.fragile_run import End, Trouble, attempt, found_run
from helpers.hostile_inputs import INPUTS, hostile, leads_nowhere
from helpers.small_runs import check_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rogue.harness.provisioning import inventory
from rogue.harness.results.run_directory import read_manifest
from rogue.workloads.printable import printable
from rogue.workloads.records import CellStatus

COUNT = int(os.environ.get("HOSTILE_INPUTS", "100000"))
"""Of all kinds together."""
LIMIT_SECONDS = 10.0
MEMORY_BYTES = 4 << 30
SAID_MAX = 4_000
"""One message lists ten mistakes of a line or two."""
SHARES = {name: 1 if each.is_slow else 10 for name, each in INPUTS.items()}


class HangError(Exception):
    """An input keeps us busy for too long."""


@contextmanager
def bounded() -> Iterator[None]:
    """Processor time, for the machine may be busy with something else."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise HangError(f"not read after {LIMIT_SECONDS:g} s of work")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(autouse=True)
def _limited_memory() -> Iterator[None]:
    """The limit of memory that commands set for themselves, which is all that bounds a table."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(autouse=True)
def _without_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "_logins", leads_nowhere)


def read(name: str, content: bytes, place: Path) -> None:
    """Read it; what it may be refused with is a sentence."""
    try:
        with bounded():
            INPUTS[name].read(content, place)
    except INPUTS[name].allowed as refused:
        said = printable(str(refused)).strip()
        assert said, f"{type(refused).__name__} says nothing"
        assert len(said) < SAID_MAX, said


@pytest.mark.parametrize("name", INPUTS)
def test_what_is_true_is_read(name: str, tmp_path: Path) -> None:
    for seed in INPUTS[name].seeds:
        assert INPUTS[name].read(seed, tmp_path) is not None


@pytest.mark.parametrize("name", INPUTS)
@settings(
    max_examples=60, derandomize=True, suppress_health_check=[*HealthCheck], database=None, deadline=None
)
@given(random=st.randoms(use_true_random=False, note_method_calls=False))
def test_a_few_hostile_inputs(name: str, tmp_path: Path, random: Random) -> None:
    read(name, hostile(random, INPUTS[name].seeds), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", INPUTS)
def test_very_many_hostile_inputs(name: str, tmp_path: Path) -> None:
    for number in range(COUNT * SHARES[name] // sum(SHARES.values())):
        content = hostile(Random(number), INPUTS[name].seeds)
        try:
            read(name, content, tmp_path)
        except Exception:
            told = f"{name}: input {number}, {content[:400]!r}\n{traceback.format_exc()}"
            pytest.fail(ascii(told).replace("\\n", "\n"), pytrace=False)


KILLS = int(os.environ.get("ROGUE_KILLS", "300"))
EXPECTED = {Trouble.KILLED: End.KILLED, Trouble.DISK_FULL: End.ERROR}


def tables(directory: Path) -> dict[str, bytes]:
    """Content of each table of the run in a directory."""
    run = found_run(directory)
    assert run is not None
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.glob("cells/*/*.parquet"))}


def undisturbed(directory: Path) -> tuple[dict[str, bytes], int]:
    """The results of an undisturbed run, and the number of its instants."""
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
    """Make trouble once in each attempt, then continue undisturbed; return the number of attempts."""
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
