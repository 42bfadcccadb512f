"""What docs/RACKS.md says: its commands exist, and its table is what plans say."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer
from helpers.racks import KINDS, judge, names, table

from rogue.harness.cli import app
from rogue.harness.experiment.load import load_experiment
from rogue.harness.provisioning.cards import CARDS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/RACKS.md").read_text()
COMMANDS = re.findall(
    r"^ *(rogue .*)$", "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)), re.MULTILINE
)


def commanded(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and what is left of them."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        found = command.commands.get(words[0])
        assert found is not None, f"{command.name} has no {words[0]}"
        command, words = found, words[1:]
    return command, words


@pytest.mark.parametrize("line", dict.fromkeys(COMMANDS))
def test_every_command_and_option_exists(line: str) -> None:
    command, words = commanded(line.partition(">")[0].split()[1:])
    known = {option for each in command.params for option in each.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_there_are_commands_for_everything() -> None:
    assert {line.split()[1] for line in COMMANDS} >= {
        "inventory",
        "provision",
        "doctor",
        "plan",
        "run",
        "teardown",
    }


def test_experiments_that_are_named_are_there() -> None:
    named = set(re.findall(r"rogue-paper/([\w-]+)", TEXT))
    named |= set(re.findall(r"for each in ([\w -]+);", TEXT)[0].split())
    assert named <= set(names())


def test_the_table_is_what_plans_say() -> None:
    said = TEXT.split("<!-- what runs -->\n")[1].split("\n<!-- end of what runs -->")[0]
    assert said == table()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_node_runs_an_incast_with_the_settings_given(kind: str) -> None:
    assert judge("incast", kind).transports == ("rogue", "roce")
    assert KINDS[kind].hca_type in CARDS
    assert f"| {kind} | {CARDS[KINDS[kind].hca_type].name}, {KINDS[kind].rate_bps // 10**9} Gb/s |" in TEXT


def test_settings_for_eight_servers_make_a_plan() -> None:
    line = next(line for line in COMMANDS if "topology.hosts=8" in line)
    settings = [word for word in line.split() if "=" in word]
    load_experiment(str(ROOT / "experiments/rogue-paper/incast.yaml"), settings)


def test_variables_of_roles_that_are_named_exist() -> None:
    options = "".join(
        path.read_text() for path in (ROOT / "playbooks/roles").glob("*/meta/argument_specs.yml")
    )
    for name in re.findall(r"`((?:card_priorities|dcqcn|tuning)_\w+)", TEXT):
        assert f"      {name}:\n" in options, name


def test_its_first_lines_say_that_it_met_no_hardware() -> None:
    assert "**None of this has met hardware.**" in "\n".join(TEXT.splitlines()[:4])
