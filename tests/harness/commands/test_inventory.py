"""Tests: arguments and help of `rogue provision`, `doctor`, `teardown` and `inventory`."""

import json
import sys
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.nodes import M510, XL170, write_inventory
from helpers.small_runs import cell, manifest
from typer.testing import CliRunner, Result

from rogue.harness.cli import app
from rogue.harness.errors import UsageError
from rogue.harness.provisioning import inventory

EXAMPLE = Path(__file__).parents[3] / "inventory" / "example" / "nodes.yaml"


def test_from_a_manifest_to_an_inventory_that_is_checked(tmp_path: Path) -> None:
    made = rogue(tmp_path, "inventory", "from-manifest", str(M510), "--user", "alice", "--lan", "lan1")
    assert made.code == 0, made.err
    assert made.err.splitlines()[:2] == [
        "LAN lan1: 2 hosts",
        "left out, because they have no address there: node2, controller",
    ]
    assert "ssh-keyscan -p 22 ms1040.example.net >>" in made.err
    assert "ssh-keyscan -p 2222 ms1041.example.net >>" in made.err
    (tmp_path / "nodes.yaml").write_text(made.out)
    checked = rogue(tmp_path, "inventory", "check", "nodes.yaml")
    assert checked.code == 0, checked.err
    assert [line.split()[0] for line in checked.out.splitlines()] == ["node", "h0", "h1"]
    assert "the one with 14:58:d0:00:01:02" in checked.out


def test_nodes_that_are_no_hosts_are_listed(tmp_path: Path) -> None:
    text = M510.read_text().replace('name="raw-pc"', 'name="emulab-blockstore"').split("<node ")
    nodes = [text[0], *(each.replace("emulab-blockstore", "raw-pc") for each in text[1:3]), *text[3:]]
    (tmp_path / "manifest.xml").write_text("<node ".join(nodes))
    made = rogue(tmp_path, "inventory", "from-manifest", "manifest.xml", "--user", "alice", "--lan", "lan0")
    assert made.err.splitlines()[:2] == [
        "LAN lan0: 2 hosts",
        "left out, because they are no hosts: node2 (emulab-blockstore), controller (emulab-blockstore)",
    ]


def test_a_manifest_of_two_lans_gives_no_inventory(tmp_path: Path) -> None:
    made = rogue(tmp_path, "inventory", "from-manifest", str(M510), "--user", "alice")
    assert (made.code, made.out) == (2, "")
    assert "got 2 LANs: lan0 (node0, node1, node2); lan1 (node0, node1); expected one" in made.err


def test_an_allocated_switch_is_listed(tmp_path: Path) -> None:
    made = rogue(tmp_path, "inventory", "from-manifest", str(XL170), "--user", "alice")
    assert "allocated switch mysw (mlnx-sn2410): it marks nothing and sends no pauses until" in made.err
    (tmp_path / "nodes.yaml").write_text(made.out)
    checked = rogue(tmp_path, "inventory", "check", "nodes.yaml")
    assert checked.out.splitlines()[-1].startswith("allocated switch mysw (mlnx-sn2410): this project does")


def test_the_example_is_an_inventory(tmp_path: Path) -> None:
    checked = rogue(tmp_path, "inventory", "check", str(EXAMPLE))
    assert checked.code == 0, checked.err
    assert "s0->h0, s0->h1" in checked.out


def test_mistake_is_printed_with_its_place(tmp_path: Path) -> None:
    path = write_inventory(tmp_path, ("10.9.0.11", "10.9.0"))
    checked = rogue(tmp_path, "inventory", "check", str(path))
    assert checked.code == 2
    assert f"{path}: h1.experiment_address: got '10.9.0', expected" in checked.err


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ansible_port: yes", "h1.ansible_port: got True, expected a whole number"),
        ("experiment_dscp: on", "h1.experiment_dscp: got True, expected a whole number"),
        ("ansible_user: yes", "h1.ansible_user: got True, expected text, in quotes where YAML reads"),
        (
            "ansible_host: gate:30755",
            "h1.ansible_host: got 'gate:30755', expected the name or the address of",
        ),
        ("ansible_become_password: x", "h1.ansible_become_password: got a value, expected nothing, or one"),
    ],
)
@pytest.mark.parametrize("place", ["file", "host_vars"])
def test_ambiguous_yaml_value_is_refused(tmp_path: Path, written: str, said: str, place: str) -> None:
    port = "ansible_port: 4002"
    in_file = written if written.startswith("ansible_port") else f"{port}, {written}"
    path = write_inventory(tmp_path, (port, in_file if place == "file" else port))
    if place == "host_vars":
        (tmp_path / "host_vars").mkdir()
        (tmp_path / "host_vars" / "h1.yml").write_text(f"{written}\n")
    checked = rogue(tmp_path, "inventory", "check", str(path))
    assert (checked.code, said in checked.err) == (2, True), checked.err


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
def test_program_runs_only_with_its_option(command: list[str], program: Path) -> None:
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
