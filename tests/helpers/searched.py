"""Searches and analyses on a testbed where a number follows from the values."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from helpers.fake_testbed import FakeTestbed, flows

from rogue.harness.cell.cell import Cell
from rogue.harness.cli import app, run_guarded
from rogue.harness.execution.slot import InlineSlot
from rogue.harness.search.candidates import CONTROL_FREE
from rogue.harness.testbeds import TESTBEDS
from rogue.harness.testbeds.base import CellResult, Progress
from rogue.workloads.streams import start_jitter_ns

EXPERIMENT = """\
name: hill
topology: {kind: star, hosts: 9, rate: 10Gbps, buffer: 9MB}
workload: {kind: incast, senders: 2, size: 1MB}
transports: [{name: rogue, label: own}, {name: irn, label: other}]
"""
SPACE = """\
aim: {metric: fct_mean_ns, direction: most, bound: 5000, transport: own}
keys:
  workload.senders: {from: 1, to: 12, unit: hosts, source: a test, shrink: from}
  workload.size: {from: 1KB, to: 10MB, scale: log, source: a test}
  topology.buffer: {choices: [1MB, 2MB], source: a test}
budget: {cells: 12, batch: 3, shrink: 8}
seeds: {first: 1, count: 2, held_out_first: 101, held_out_count: 3}
"""
VARIATION = """\
measures: [fct_mean_ns]
transport: own
keys:
  workload.senders: {from: 2, to: 8, unit: hosts, source: a test}
  workload.size: {from: 1KB, to: 10MB, scale: log, source: a test}
trajectories: 3
seeds: {count: 2}
"""


class HillTestbed(FakeTestbed):
    """A transfer takes a time for each sender, which depends on the transport's label."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.ns_per_sender = {"own": 1000, "other": 500, CONTROL_FREE: 100}
        self.before_cell: Callable[[Cell], None] = lambda _: None
        self.extra_ns: Callable[[Cell], int] = lambda _: 0

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        self.before_cell(cell)
        self.ran.append(cell.id)
        each_ns = self.ns_per_sender.get(cell.transport.shown, 500)
        duration_ns = len(cell.groups[0].flows) * each_ns + self.extra_ns(cell)
        end_ns = start_jitter_ns(cell.seed, "fake") + duration_ns
        return CellResult({"flows": {**flows(cell), "fct_ns": [duration_ns], "end_ns": [end_ns]}})


class Printed(NamedTuple):
    """The result of a command: its exit code, lines on standard output, and standard error."""

    code: int
    lines: list[str]
    err: str

    @property
    def run(self) -> Path:
        """The path on the last line."""
        return Path(self.lines[-1])


class Terminal:
    """Runs commands of `rogue` in this process, in a directory with the experiment and both files."""

    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, place: Path) -> None:
        self._capsys, self._patch, self.place = capsys, patch, place
        self.testbed = HillTestbed()

    def write(self, name: str, text: str) -> str:
        """Write a file; return its name."""
        (self.place / name).write_text(text)
        return name

    def rogue(self, *words: str) -> Printed:
        """Run a command."""
        self._patch.setattr(sys, "argv", ["rogue", *words])
        code = run_guarded(lambda: app(list(words), prog_name="rogue", standalone_mode=False))
        out, err = self._capsys.readouterr()
        return Printed(code, out.splitlines(), err)

    def search(self, *options: str, space: str = SPACE, experiment: str = EXPERIMENT) -> Printed:
        """Search with the space."""
        files = self.write("hill.yml", experiment), "--space", self.write("space.yml", space)
        return self.rogue("search", *files, *options)

    def sensitivity(self, *options: str, vary: str = VARIATION) -> Printed:
        """Analyse with the file of ranges."""
        files = self.write("hill.yml", EXPERIMENT), "--vary", self.write("vary.yml", vary)
        return self.rogue("sensitivity", *files, *options)

    def stop_after(self, cells: int) -> None:
        """Press Ctrl-C when this number of cells has run."""

        def stop(_: Cell) -> None:
            if len(self.testbed.ran) == cells:
                raise KeyboardInterrupt

        self.testbed.before_cell = stop

    def let_run(self) -> None:
        """Let all further cells run."""
        self.testbed.before_cell = lambda _: None


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """A terminal in an empty directory; every command finds the same testbed, with cells in this process.

    Nothing is synced, because a search writes its manifest after each batch.
    """
    made = Terminal(capsys, monkeypatch, tmp_path)
    for name in ("simulator", made.testbed.name):
        monkeypatch.setitem(TESTBEDS, name, lambda: made.testbed)
    monkeypatch.setattr("rogue.harness.execution.scheduler.Slot", InlineSlot)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    monkeypatch.chdir(tmp_path)
    return made
