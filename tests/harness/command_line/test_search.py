"""Tests: arguments and help of `rogue search`, `sensitivity` and `weaknesses`."""

from pathlib import Path

import pytest

from rogue.harness.command_line.search import check_start, search, sensitivity, weaknesses
from rogue.harness.commands.weaknesses import WeaknessesOptions
from rogue.harness.errors import ExitCode, UsageError


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "got no experiment"),
        ({"experiment": "quickstart"}, "got no --space"),
        ({"experiment": "quickstart", "resume": "results/x"}, "expected the search alone"),
        ({"is_plan": True, "resume": "results/x"}, "expected the search alone"),
        ({"has_baseline": False, "resume": "results/x"}, "expected the search alone"),
    ],
)
def test_a_search_needs_an_experiment_and_a_space_or_a_run(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        search(**given)  # type: ignore[arg-type]


FILE = Path("space.yml")


def test_a_run_that_goes_on_stands_alone() -> None:
    check_start("search", "", ("--space", None), Path("run"), is_changed=False)
    words = "--resume: got an experiment or options that change it, expected the search alone"
    with pytest.raises(UsageError, match=words):
        check_start("search", "mine.yml", ("--space", None), Path("run"), is_changed=True)


@pytest.mark.parametrize(
    ("experiment", "file", "missing"), [("", FILE, "experiment"), ("mine.yml", None, "--vary")]
)
def test_a_start_needs_an_experiment_and_its_file(experiment: str, file: Path | None, missing: str) -> None:
    check_start("sensitivity", "mine.yml", ("--vary", FILE), None, is_changed=True)
    with pytest.raises(
        UsageError, match=rf"sensitivity: got no {missing}, expected an experiment and --vary"
    ):
        check_start("sensitivity", experiment, ("--vary", file), None, is_changed=True)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "got no experiment"),
        ({"experiment": "quickstart"}, "got no --vary"),
        ({"claims": ["X-2-10"], "resume": "results/x"}, "expected the run alone"),
    ],
)
def test_a_screening_needs_an_experiment_and_a_file_or_a_run(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        sensitivity(**given)  # type: ignore[arg-type]


def test_each_option_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[WeaknessesOptions] = []
    monkeypatch.setattr(
        "rogue.harness.commands.weaknesses.run_weaknesses",
        lambda options: asked.append(options) or ExitCode.OK,
    )
    assert (
        weaknesses(["a.yml"], "mine", "kernel", Path("out"), ["a=1"], 3, [Path("mine.py")], True)
        is ExitCode.OK
    )
    (options,) = asked
    assert (options.finds, options.transport, options.testbed) == (("a.yml",), "mine", "kernel")
    assert (options.place, options.jobs, options.plugins) == (Path("out"), 3, (Path("mine.py"),))
    assert options.trusts_inventory and options.settings == ("a=1",)
