"""Tests: the programs and tables of docs pages."""

import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from helpers.command_line import rogue
from helpers.sample_run import write_sample_run

from rogue import simulator
from rogue.harness.experiment.document import read_document
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import Plan
from rogue.harness.results.tables import encode
from rogue.harness.search.candidates import make_candidates
from rogue.harness.search.objective import make_target
from rogue.harness.search.space import Space, check_file, read_file
from rogue.harness.search.variation import Variation
from rogue.harness.testbeds import find_testbed
from rogue.workloads.records import TABLES

TEXT = (Path(__file__).parents[2] / "docs/how-to/simulator-as-library.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("program", "printed"), PROGRAMS, ids=["simulation", "software"])
def test_a_program_prints_what_stands_below_it(program: str, printed: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_every_name_of_the_table_is_there() -> None:
    table = TEXT[TEXT.index("| you want |") :]
    for name in re.findall(r"`([A-Z]\w+)`", table):
        assert name in simulator.__all__


RESULTS_TEXT = (Path(__file__).parents[2] / "docs/how-to/read-results.md").read_text()
RESULTS_PROGRAMS = re.findall(r"```python\n(.*?)```", RESULTS_TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample whose first cell has a table as runs write it."""
    directory = write_sample_run(tmp_path_factory.mktemp("runs") / "run")
    written = {column: [] for column in TABLES["flows"].column_names()}
    (directory / "cells/written").mkdir()
    (directory / "cells/written/flows.parquet").write_bytes(encode({"flows": written})["flows.parquet"])
    return directory


@pytest.mark.parametrize("program", RESULTS_PROGRAMS, ids=["load", "run", "schema"])
def test_a_program_runs(run: Path, tmp_path: Path, program: str) -> None:
    text = program.replace("results/quickstart/RUN_ID", str(run)).replace(
        "RUN/cells/CELL", f"{run}/cells/written"
    )
    *lines, last = text.strip().splitlines()
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*lines, f"print({last})"])],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() not in {"", "None"}


ROOT = Path(__file__).parents[2]
REFEREE_TEXT = (ROOT / "docs/explanation/referee.md").read_text()
REFEREE = ROOT / "experiments/referee"
HELD_OUT = sorted((REFEREE / "held-out").glob("*.yaml"))


@pytest.mark.parametrize("file", HELD_OUT, ids=lambda file: file.stem)
def test_what_is_held_out_has_the_tolerances_of_the_incast_and_seeds_of_its_own(file: Path) -> None:
    held_out = yaml.safe_load(file.read_text())
    incast = yaml.safe_load((REFEREE / "incast.yaml").read_text())
    expected = {key: value for key, value in incast["agree_within"].items() if key != "probe_p99_ns"}
    assert held_out["agree_within"] == expected
    seeds = range(held_out["seed"], held_out["seed"] + held_out["repetitions"])
    others = [yaml.safe_load(each.read_text()) for each in REFEREE.glob("*.yaml")]
    assert not any(set(seeds) & set(range(each["seed"], each["seed"] + 20)) for each in others)
    assert f"| `{file.stem}` |" in REFEREE_TEXT


@pytest.mark.parametrize("file", sorted((REFEREE / "prediction").glob("*.yaml")), ids=lambda file: file.stem)
def test_a_prediction_has_tolerances_and_is_on_the_page(file: Path) -> None:
    experiment = yaml.safe_load(file.read_text())
    assert experiment["agree_within"] and "nic" not in experiment["topology"]
    assert REFEREE_TEXT.count(f"| `{file.stem}` |") == 2  # what it is, and its result


FOUND = ROOT / "experiments/found"
PAGE = (ROOT / "docs/how-to/find-weaknesses.md").read_text()


def read_space(file: Path) -> Space:
    return check_file(read_file(str(file), "space"), Space)


SPACES = sorted(file.stem for file in (FOUND / "spaces").glob("*.yml"))


@pytest.mark.parametrize("name", SPACES)
def test_a_space_can_be_searched_from_its_start_with_the_command_at_its_head(name: str) -> None:
    file, start = FOUND / f"spaces/{name}.yml", FOUND / f"start/{name}.yml"
    space = read_space(file)
    command = f"rogue search {start.relative_to(ROOT)} --space {file.relative_to(ROOT)}"
    assert file.read_text().splitlines()[0] == f"# {command}"
    assert space.aim is not None and make_target(space.aim).bound is not None
    loaded, seeds = load_experiment(str(start)), space.seeds
    candidates = make_candidates(loaded, find_testbed("simulator"), space.aim, seeds.first)
    candidates = replace(candidates, seconds_max=space.budget.cell_ns / 1e9)
    assert isinstance(candidates.plan({}, seeds.numbers), Plan)


def test_the_commands_of_the_page_find_something(tmp_path: Path) -> None:
    for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL):
        name = block.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(block)
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in commands.splitlines():
        done = rogue(tmp_path, *shlex.split(line)[1:], "--jobs", "1")
        assert done.code == 0, done.err
    assert "Finding: aggregate_share of rogue is" in done.out
    found = load_experiment(str(tmp_path / done.run / "find.yml")).experiment
    assert found.name == "mine-found"


@pytest.mark.parametrize("file", sorted(FOUND.glob("*.yml")), ids=lambda file: file.stem)
def test_a_find_is_an_experiment_with_a_sentence_and_stands_on_the_page(file: Path) -> None:
    found, seeds = load_experiment(str(file)).experiment, read_space(FOUND / f"spaces/{file.name}").seeds
    assert (found.seed, found.repetitions) == (seeds.held_out.start, len(seeds.held_out))
    head = "".join(line for line in file.read_text().splitlines() if line.startswith("# "))
    assert f"on seeds {seeds.held_out.start} to {seeds.held_out.stop - 1}" in head.replace("# ", " ").replace(
        "  ", " "
    )
    assert f"experiments/found/{file.name}" in PAGE and file.stem in SPACES


def test_what_varies_starts_from_an_experiment_with_the_command_at_its_head() -> None:
    for file in sorted((FOUND / "vary").glob("*.yml")):
        words = shlex.split(file.read_text().splitlines()[0].removeprefix("# "))
        assert f"experiments/found/vary/{file.name}" in PAGE
        assert words[-1] == str(file.relative_to(ROOT)) and (ROOT / words[2]).is_file()
        assert check_file(read_document(str(file)), Variation).keys


@pytest.mark.long
def test_each_finding_holds_on_its_seeds(tmp_path: Path) -> None:
    done = rogue(tmp_path, "weaknesses")
    count = len(list(FOUND.glob("*.yml")))
    assert f"{count} findings: {count} shared." in done.out
