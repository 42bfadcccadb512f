"""Tests: arguments of commands."""

from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.nodes import write_inventory
from helpers.small_runs import outcome, write_run
from typer.testing import CliRunner

from rogue.harness.cli import app
from rogue.harness.commands.list import list_
from rogue.harness.commands.reproduce import ReproduceOptions
from rogue.harness.errors import ExitCode, UsageError


def test_claims_takes_directories_and_a_place(tmp_path: Path) -> None:
    write_run(tmp_path / "results" / "a", outcome())
    arguments = ["claims", str(tmp_path / "results"), "--out", str(tmp_path / "board.html")]
    done = CliRunner().invoke(app, arguments)
    assert done.stdout.splitlines()[-1] == str(tmp_path / "board.html")
    assert (tmp_path / "board.html").exists()


def test_reproduce_hands_its_options_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    got: list[ReproduceOptions] = []
    monkeypatch.setattr("rogue.harness.commands.reproduce.reproduce_paper", got.append)
    words = (
        f"reproduce irn --set scale=quick --set seed=2 --out {tmp_path} -j 2 --dask tcp://head:8786"
        " --again --dry-run"
    )
    CliRunner().invoke(app, words.split())
    assert got == [
        ReproduceOptions(
            "irn", ("scale=quick", "seed=2"), tmp_path, 2, "tcp://head:8786", is_again=True, is_dry=True
        )
    ]


def test_only_runs_are_listed_from_a_directory_or_by_experiment() -> None:
    with pytest.raises(UsageError, match="list workloads: got a directory or --experiment, expected neither"):
        list_("workloads", experiment="quickstart")


def test_commands_are_explained(tmp_path: Path) -> None:
    shown = rogue(tmp_path, "testbed", "--help").out
    assert all(f"\n  {command}" in shown for command in ("up", "status", "down"))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("up", "--topology", "torus"), ExitCode.USAGE, "rogue: --topology: got 'torus'"),
        (("up", "--topology", "ring"), ExitCode.USAGE, "network of virtual machines: got a loop"),
        (("up", "--hosts", "0"), ExitCode.USAGE, "rogue: Invalid value for '--hosts'"),
        (("up", "no-such-file.yaml"), ExitCode.USAGE, "no-such-file.yaml"),
        (("down", "--name", "../x"), ExitCode.TESTBED, "rogue: name of a testbed: got '../x'"),
        (("status",), ExitCode.TESTBED, ""),
        (("down",), ExitCode.OK, "testbed default: was not up"),
    ],
)
def test_what_a_person_reads(tmp_path: Path, arguments: tuple[str, ...], code: ExitCode, words: str) -> None:
    done = rogue(tmp_path, "testbed", *arguments, XDG_STATE_HOME=str(tmp_path))
    assert done.code == code, done.err
    assert words in done.err


def rack(directory: Path, priority: str) -> Path:
    """Two hosts on a switch of Arista's."""
    path = write_inventory(directory)
    text = path.read_text()
    tor = f"""\
    hardware_switches:
      hosts:
        tor:
          ansible_host: 127.0.0.1
          switch_platform: eos
          switch_ports: [{{bridge: s0, interface: Ethernet1, peer: h0}}]
          switch_priorities: {{3: {priority}}}
"""
    path.write_text(text[: text.index("    switch:")] + tor)
    return path


@pytest.mark.parametrize("verb", ["plan", "apply", "check", "undo"])
def test_an_inventory_without_switches_is_refused(tmp_path: Path, verb: str) -> None:
    refused = rogue(tmp_path, "switch", verb, str(write_inventory(tmp_path)))
    assert refused.code == 2
    assert "got no hardware switch to log in to" in refused.err


def test_a_plan_without_the_switch(tmp_path: Path) -> None:
    path = rack(tmp_path, "{pauses: true}")
    planned = rogue(tmp_path, "switch", "plan", str(path), "--offline")
    assert planned.code == 0, planned.err
    assert "  priority-flow-control priority 3 no-drop\n" in planned.out
    checked = rogue(tmp_path, "inventory", "check", str(path))
    assert "tor" in checked.out


def test_a_cell_belongs_to_an_experiment(tmp_path: Path) -> None:
    refused = rogue(tmp_path, "switch", "plan", str(write_inventory(tmp_path)), "--cell", "dctcp-r1")
    expected = "switch: got --cell without an experiment, expected both; name one after the inventory."
    assert (refused.code, expected in refused.err) == (2, True)


def test_a_plan_for_an_experiment_asks_for_its_k(tmp_path: Path) -> None:
    path = rack(tmp_path, "{dscp: [0]}")
    planned = rogue(tmp_path, "switch", "plan", str(path), "quickstart", "--cell", "dctcp-r1", "--offline")
    assert planned.code == 0, planned.err
    assert "minimum-threshold 98670 bytes maximum-threshold 98670 bytes" in planned.out


BAD = """\
from dataclasses import dataclass
from rogue.agent.core.cc.fixed import FixedParameters
from rogue.agent.core.plugins import register_control

@dataclass(frozen=True, slots=True)
class Parameters(FixedParameters):
    "Constants."

register_control("silent", Parameters)
"""


def test_a_start_is_written_and_passes(tmp_path: Path) -> None:
    written = rogue(tmp_path, "new", "control", "mine")
    assert (written.code, written.out) == (0, "mine.py\ntest_mine.py\n")
    checked = rogue(tmp_path, "check-plugin", "mine.py")
    assert (checked.code, checked.out) == (0, "mine.py: control mine keeps the contract\n")
    again = rogue(tmp_path, "new", "control", "mine")
    assert again.code == 2
    assert "mine.py, which is there already" in again.err


def test_what_a_control_says_does_not_steer_the_terminal(tmp_path: Path) -> None:
    rogue(tmp_path, "new", "nic-control", "mine", "--language", "c++")
    text = (tmp_path / "mine.h").read_text()
    (tmp_path / "mine.h").write_text(
        text.replace("deadline_ps = now", 'rogue::fail("\\x1b[2J"); deadline_ps = now', 1)
    )
    checked = rogue(tmp_path, "check-plugin", "mine.h")
    assert checked.code == 1
    assert "\ufffd[2J" in checked.out
    assert "\x1b" not in checked.out


def test_what_breaks_the_contract_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    checked = rogue(tmp_path, "check-plugin", "bad.py")
    assert checked.code == 1
    expected = "bad.py: control silent: the docstring of Parameters does not explain window_packets\n"
    assert checked.out == expected


@pytest.mark.parametrize("words", [("plan", "quickstart"), ("list", "controls")])
def test_a_plugin_that_ends_its_process_does_not_end_the_command(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "mine.py").write_text("import os\nos._exit(0)\n")
    done = rogue(tmp_path, *words, "--plugin", "mine.py")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "rogue: mine.py: got a plug-in that ends the process that loads it, by an exit"
    )


def test_a_file_is_printed_or_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.cm").write_text("Nodes 2\nConnections 1\n0->1 start 0 size 7\n")
    done = rogue(tmp_path, "import", "htsim-cm", "a.cm")
    assert (done.code, done.out) == (0, "start_ns,src,dst,size_bytes\n0,h0,h1,7\n")
    refused = rogue(tmp_path, "import", "htsim-topo", "a.cm")
    assert refused.code == 2
    assert refused.err.startswith("rogue: import: got ")
