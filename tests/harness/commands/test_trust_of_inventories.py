"""Every command that takes an inventory: none runs a program without being told so, each time."""

import json
import sys
from pathlib import Path

import pytest
from helpers.small_runs import cell, manifest
from typer.testing import CliRunner, Result

from rogue.harness.cli import app
from rogue.harness.errors import UsageError
from rogue.harness.provisioning import inventory

COMMANDS = [
    ["doctor"],
    ["provision"],
    ["teardown"],
    ["inventory", "check"],
    ["switch", "plan"],
    ["switch", "apply"],
    ["switch", "check"],
    ["switch", "undo"],
    ["plan", "experiments/quickstart.yaml", "--testbed"],
    ["run", "experiments/quickstart.yaml", "--testbed"],
]


class AskedError(Exception):
    """Ansible would have been asked."""


@pytest.fixture(autouse=True)
def _no_ansible(monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(_path: Path, *, runs: bool) -> None:
        raise AskedError(runs)

    monkeypatch.setattr(inventory, "list_inventory", listed)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "prog.yml"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def call(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_program_is_run_only_where_the_option_says_so(command: list[str], program: Path) -> None:
    refused = call(*command, program)
    assert isinstance(refused.exception, UsageError), refused.exception
    assert f"`chmod -x {program}`" in str(refused.exception)
    assert "add --trust-inventory" in str(refused.exception)
    trusted = call(*command, program, "--trust-inventory")
    assert isinstance(trusted.exception, AskedError), trusted.exception
    assert trusted.exception.args == (True,)


def a_run_of_somebodys(directory: Path, testbed: str) -> Path:
    run = directory / "run"
    run.mkdir()
    told = manifest([cell(status="pending")], testbed=testbed, status="partial", plugins=[])
    (run / "manifest.json").write_text(json.dumps(told))
    return run


@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_a_run_names_no_inventory_that_is_read(
    tmp_path: Path, program: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it holds, program or not: it would say where SSH goes, and how."""
    program.chmod(mode)
    run = a_run_of_somebodys(tmp_path, str(program))
    monkeypatch.setattr(sys, "argv", ["rogue", "run", "--resume", str(run)])
    refused = call("run", "--resume", run)
    assert isinstance(refused.exception, UsageError), refused.exception
    assert str(refused.exception).startswith(
        f"--resume: got no --testbed, expected the inventory that the run names, {str(program)!r}"
    )
    assert str(refused.exception).endswith(f" run --resume {run} --testbed {program}")


def test_an_inventory_that_is_named_again_is_read(
    tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.chmod(0o644)
    monkeypatch.chdir(tmp_path)
    run = a_run_of_somebodys(tmp_path, program.name)
    for named in (program.name, str(program)):
        goes_on = call("run", "--resume", run, "--testbed", named)
        assert isinstance(goes_on.exception, AskedError), goes_on.exception
    other = call("run", "--resume", run, "--testbed", "kernel")
    assert str(other.exception) == "--testbed: got 'kernel', expected 'prog.yml', on which the run began."
