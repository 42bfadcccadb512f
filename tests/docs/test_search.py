"""The spaces that were committed before they were searched, and what was found in them."""

from pathlib import Path

import pytest

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import Plan
from rogue.harness.search.base import make_base
from rogue.harness.search.space import read_space
from rogue.harness.search.values import make_target
from rogue.harness.testbeds import find_testbed

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "experiments/found"
SPACES = sorted(file.stem for file in (FOUND / "spaces").glob("*.yml"))


@pytest.mark.parametrize("name", SPACES)
def test_a_space_can_be_searched_from_its_start_with_the_command_at_its_head(name: str) -> None:
    file, start = FOUND / f"spaces/{name}.yml", FOUND / f"start/{name}.yml"
    _, space = read_space(str(file))
    command = f"rogue search {start.relative_to(ROOT)} --space {file.relative_to(ROOT)}"
    assert file.read_text().splitlines()[0] == f"# {command}"
    assert space.aim is not None and make_target(space.aim).bound is not None
    base = make_base(load_experiment(str(start)), find_testbed("simulator"), space.aim, space.seeds.first)
    assert isinstance(base.cells_at({}, space.seeds.search, space.budget.cell_ns / 1e9), Plan)
