"""What a search and a screening do alike: the testbed is asked, and a run goes on where it was begun."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.fake_testbed import OBSTACLE
from helpers.searched import SPACE, VARIATION, HillTestbed, hill, space_document, testbed

from rogue.harness.commands.growing_run import GrowingOptions
from rogue.harness.commands.search import SearchOptions, run_search
from rogue.harness.commands.sensitivity import SensitivityOptions, run_sensitivity
from rogue.harness.errors import ExitCode, UsageError
from rogue.harness.results.manifest import read_manifest
from rogue.harness.results.recorded_run import Run
from rogue.harness.run import Workers
from rogue.remote.errors import NodeError

__all__ = ["testbed"]

Command = Callable[[Any], ExitCode]


@pytest.fixture(params=["search", "sensitivity"])
def asked(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Command, GrowingOptions]:
    """A command with its options."""
    loaded, out, words = hill(tmp_path), tmp_path / "results", (request.param,)
    if request.param == "search":
        space = space_document(tmp_path, SPACE)
        return run_search, SearchOptions(loaded=loaded, arguments=words, out=out, jobs=1, space=space)
    vary = space_document(tmp_path, VARIATION)
    return run_sensitivity, SensitivityOptions(loaded=loaded, arguments=words, out=out, jobs=1, vary=vary)


def test_the_testbed_has_to_be_able_to_measure(
    asked: tuple[Command, GrowingOptions],
    tmp_path: Path,
    testbed: HillTestbed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command, options = asked
    monkeypatch.setenv(OBSTACLE, "a node is gone")
    words = rf"{options.command}: simulator cannot measure, .*\n  a node is gone"
    with pytest.raises(NodeError, match=words):
        command(options)
    assert not (tmp_path / "results").exists()


def test_no_more_cells_run_at_once_than_the_testbed_can(
    asked: tuple[Command, GrowingOptions], testbed: HillTestbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, options = asked
    jobs = []

    def noted(count: int, *others: object) -> Workers:
        jobs.append(count)
        return Workers(count, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(HillTestbed, "jobs_max", 1)
    monkeypatch.setattr("rogue.harness.run.Workers", noted)
    assert command(replace(options, jobs=8)) is ExitCode.OK
    assert jobs == [1]
    with pytest.raises(UsageError, match="expected a testbed whose cells need nothing but a processor"):
        command(replace(options, dask="tcp://localhost:1"))


def test_an_inventory_that_only_the_run_names_is_not_opened(
    asked: tuple[Command, GrowingOptions], testbed: HillTestbed, capsys: pytest.CaptureFixture[str]
) -> None:
    command, options = asked
    assert command(options) is ExitCode.OK
    directory = Path(capsys.readouterr().out.splitlines()[-1])
    run = Run(directory, read_manifest(directory))
    run.manifest.testbed = "inventory.yml"
    run.write()
    again = type(options)(arguments=options.arguments, resume=directory)
    with pytest.raises(UsageError, match="--resume: got no --testbed, expected the inventory"):
        command(again)
    with pytest.raises(UsageError, match=r"got 'kernel', expected 'inventory\.yml', on which"):
        command(replace(again, testbed="kernel"))
