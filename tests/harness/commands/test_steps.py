"""How an experiment stands: complete, stopped, stale or not there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.reproduced import NAMES, loaded, present

from rogue.harness.commands.steps import Standing, Step, cheap_first, is_alike, is_of, stale_because, step_of
from rogue.harness.results.manifest import read_manifest
from rogue.workloads.history import Change
from rogue.workloads.manifest import Git, Manifest

NAME = NAMES[0]
NOW = Git(commit="c", dirty=False)
ENGINE = Change("e" * 40, "engine: another queue", ("simulator/cpp/engine/engine.cpp",))
MEASURE = Change("m" * 40, "metrics: another percentile", ("reports/metrics/delay.py",))
WORDS = Change("w" * 40, "docs: a word", ("docs/TUTORIAL.md",))


def nothing_since(_commit: str | None) -> Sequence[Change]:
    return []


def runs(*directories: Path) -> list[tuple[Path, Manifest]]:
    return [(each, read_manifest(each)) for each in directories]


def test_a_complete_run_comes_before_a_stopped_one(tmp_path: Path) -> None:
    whole, part = (present(tmp_path, NAME, "scale=quick", status=s) for s in ("complete", "partial"))
    step = step_of(NAME, loaded(NAME, "scale=quick"), runs(part, whole), NOW, nothing_since)
    assert (step.run, step.standing, step.seconds) == (whole, Standing.COMPLETE, 0)


def test_without_a_run_it_starts_and_says_how_long(tmp_path: Path) -> None:
    step = step_of(NAME, loaded(NAME, "scale=quick"), [], NOW, nothing_since)
    assert (step.run, step.standing, step.text) == (None, Standing.STARTS, "starts")
    assert step.seconds > 0


@pytest.mark.parametrize(
    ("status", "standing"), [("complete", Standing.COMPLETE), ("partial", Standing.GOES_ON)]
)
def test_a_run_of_another_commit_counts_if_nothing_it_depends_on_was_touched(
    tmp_path: Path, status: str, standing: Standing
) -> None:
    old = present(tmp_path, NAME, "scale=quick", status=status, commit="b")
    step = step_of(NAME, loaded(NAME, "scale=quick"), runs(old), NOW, lambda _: [WORDS])
    assert (step.run, step.standing) == (old, standing)


def test_a_run_whose_engine_was_touched_since_is_stale_and_the_commits_are_named(tmp_path: Path) -> None:
    old = present(tmp_path, NAME, "scale=quick", commit="b")
    step = step_of(NAME, loaded(NAME, "scale=quick"), runs(old), NOW, lambda _: [ENGINE, WORDS])
    assert (step.run, step.standing) == (None, Standing.STALE)
    assert step.text.startswith("stale, starts again: touched since its run (b, 20")
    assert step.text.endswith(") by eeeeeeeeeeee engine: another queue")
    many = step_of(NAME, loaded(NAME, "scale=quick"), runs(old), NOW, lambda _: [ENGINE] * 5)
    assert many.why.endswith("; and 2 more")


@pytest.mark.parametrize(
    ("commit", "is_dirty", "now", "why"),
    [
        ("c", False, NOW, None),
        ("b", True, NOW, "changes that nobody committed"),
        ("c", True, Git(commit="c", dirty=True), "changes that nobody committed"),
        ("b", False, Git(commit="c", dirty=True), "changes that nobody committed"),
        ("b", False, Git(commit=None, dirty=None), "changes that nobody committed"),
        ("b", False, NOW, "nobody knows what was changed since b"),
    ],
)
def test_what_nobody_can_say_is_stale(
    tmp_path: Path, commit: str, is_dirty: bool, now: Git, why: str | None
) -> None:
    run = present(tmp_path, NAME, "scale=quick", commit=commit, is_dirty=is_dirty)
    said = stale_because(read_manifest(run), NAME, loaded(NAME, "scale=quick"), now, lambda _: None)
    assert said is None if why is None else why in str(said)


def test_a_run_of_another_text_of_the_file_is_stale(tmp_path: Path) -> None:
    manifest = read_manifest(present(tmp_path, NAME, "scale=quick"))
    manifest.source.sha256 = "0"
    said = stale_because(manifest, NAME, loaded(NAME, "scale=quick"), NOW, nothing_since)
    assert said == "the experiment’s file was changed"


@pytest.mark.parametrize("file", ["experiments/\0.yaml", "x" * 5000])
def test_a_name_that_no_file_can_have_is_not_alike(tmp_path: Path, file: str) -> None:
    manifest = read_manifest(present(tmp_path, NAME, "scale=quick"))
    manifest.source.file = file
    assert not is_of(manifest, loaded(NAME, "scale=quick"))


@pytest.mark.parametrize("change", ["settings", "testbed", "file", "cell"])
def test_another_run_is_not_alike(tmp_path: Path, change: str) -> None:
    name = NAMES[1] if change == "file" else NAME
    settings = ("repetitions=1",) if change == "settings" else ("scale=quick",)
    command = "--only-cell" if change == "cell" else "x"
    manifest = read_manifest(present(tmp_path, name, *settings, command=command))
    if change == "testbed":
        manifest.testbed = "virtual"
    wanted = loaded(NAME, "scale=quick")
    assert is_of(manifest, wanted) == (change in {"settings", "cell"})
    assert is_alike(manifest, wanted) == (change in {"testbed", "file"})


def with_tables(directory: Path, tables: Mapping[str, str]) -> Manifest:
    """Return the manifest of a run whose cells have one table each, of these contents by cell."""
    manifest = read_manifest(directory)
    for record in manifest.cells:
        record.status = "ok"
    manifest.files = {f"cells/{cell}/flows.parquet": checksum for cell, checksum in tables.items()}
    return manifest


def test_measures_that_changed_need_no_other_run_for_the_board_judges_again(tmp_path: Path) -> None:
    old = present(tmp_path, NAME, commit="b")
    whole = with_tables(old, {})
    step = step_of(NAME, loaded(NAME), [(old, whole)], NOW, lambda _: [MEASURE])
    assert (step.standing, step.why) == (Standing.COMPLETE, "")


@pytest.mark.parametrize(
    ("again", "is_changed", "touched", "standing"),
    [
        ("1", False, ENGINE, Standing.COMPLETE),
        ("other", False, ENGINE, Standing.STALE),
        ("1", True, ENGINE, Standing.STALE),
    ],
)
def test_a_stale_run_stands_if_one_seed_gives_the_same_tables_today(
    tmp_path: Path, again: str, is_changed: bool, touched: Change, standing: Standing
) -> None:
    old, now = (
        present(tmp_path, NAME, *each, commit=commit)
        for each, commit in [((), "b"), (("repetitions=1",), "c")]
    )
    cells = [cell.id for cell in read_manifest(old).cells]
    points = {cell: f"{number}" for number, cell in enumerate(cells)}
    one = with_tables(now, {cell.id: points[cell.id] for cell in read_manifest(now).cells})
    assert 0 < len(one.cells) < len(cells)
    one.files[f"cells/{cells[1]}/flows.parquet"] = again
    whole = with_tables(old, points)
    if is_changed:
        whole.source.sha256 = "0"
    step = step_of(
        NAME, loaded(NAME), [(now, one), (old, whole)], NOW, lambda commit: [touched] if commit == "b" else []
    )
    assert step.standing is standing
    if standing is Standing.COMPLETE:
        assert (step.run, step.text) == (old, "complete: seed 1 gave the same tables at c")


def test_what_is_cheap_comes_first() -> None:
    step = Step("a", loaded(NAME), Standing.STARTS, seconds=9.0)
    done = replace(step, name="c", standing=Standing.COMPLETE, seconds=0.0)
    assert [each.name for each in cheap_first([step, replace(step, name="b", seconds=2.0), done])] == [
        "c",
        "b",
        "a",
    ]
