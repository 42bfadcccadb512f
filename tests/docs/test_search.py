"""The page's commands, the spaces that were committed before they were searched, and what was found."""

import re
import shlex
from pathlib import Path

import pytest
from helpers.command_line import rogue

from rogue.harness.experiment.document import read_document
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import Plan
from rogue.harness.search.base import make_base
from rogue.harness.search.question import make_target
from rogue.harness.search.space import check_variation, read_space
from rogue.harness.testbeds import find_testbed

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "experiments/found"
PAGE = (ROOT / "docs/SEARCH.md").read_text()
SPACES = sorted(file.stem for file in (FOUND / "spaces").glob("*.yml"))


@pytest.mark.parametrize("name", SPACES)
def test_a_space_can_be_searched_from_its_start_with_the_command_at_its_head(name: str) -> None:
    file, start = FOUND / f"spaces/{name}.yml", FOUND / f"start/{name}.yml"
    space = read_space(str(file))
    command = f"rogue search {start.relative_to(ROOT)} --space {file.relative_to(ROOT)}"
    assert file.read_text().splitlines()[0] == f"# {command}"
    assert space.aim is not None and make_target(space.aim).bound is not None
    base = make_base(load_experiment(str(start)), find_testbed("simulator"), space.aim, space.seeds.first)
    assert isinstance(base.cells_at({}, space.seeds.numbers, space.budget.cell_ns / 1e9), Plan)


def test_the_commands_of_the_page_find_something(tmp_path: Path) -> None:
    for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL):
        name = block.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(block)
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in commands.splitlines():
        done = rogue(tmp_path, *shlex.split(line)[1:], "--jobs", "1")
        assert done.code == 0, done.err
    assert "Find: aggregate_share of rogue is" in done.out
    found = load_experiment(str(tmp_path / done.run / "find.yml")).experiment
    assert found.name == "mine-found"


@pytest.mark.parametrize("file", sorted(FOUND.glob("*.yml")), ids=lambda file: file.stem)
def test_a_find_is_an_experiment_with_a_sentence_and_stands_on_the_page(file: Path) -> None:
    found, seeds = load_experiment(str(file)).experiment, read_space(str(FOUND / f"spaces/{file.name}")).seeds
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
        assert check_variation(read_document(str(file))).keys


@pytest.mark.long
def test_each_find_is_one_on_its_seeds(tmp_path: Path) -> None:
    done = rogue(tmp_path, "weaknesses")
    count = len(list(FOUND.glob("*.yml")))
    assert f"{count} finds: {count} shared." in done.out
