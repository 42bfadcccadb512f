"""Acceptance: the gate catches a changed constant, and passes a control that has not changed.

Fixed before the first run: `rogue new control`, 4-to-1 incast of 1 MB transfers at 10 Gb/s for 5 ms, probes
every 100 us, eight seeds per run from 1001 on, 20 pairs of runs, the default margin of 5 %. The mutant has a
target of 80 us instead of 60, and the seeds of its baseline. The unchanged control has other seeds than its
baseline; with equal seeds its tables are identical.

With four seeds, 1 to 80, the gate caught the mutant in 14 of 20 pairs and passed the unchanged control in 20.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers.command_line import rogue

from rogue.reports.comparison.checks import has_failed
from rogue.reports.comparison.gate import are_identical, checks_of
from rogue.reports.comparison.two_runs import compare
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.shipped import CHECKOUT

PAIRS, SEEDS = 20, 8
EXPERIMENT = """
name: gate
title: 4-to-1 incast
plugins: [halve.py]
topology: {kind: star, hosts: 6, rate: 10Gbps, delay: 1us}
workload: {kind: incast, senders: 4, size: 1MB, repeat_for: 5ms}
probe: {kind: write0, interval: 100us}
transports: [{name: rogue, cc: halve, label: Halve}]
seed: 1001
measure: [throughput, latency, queues, rtt]
"""


class Part(Run):
    """Some repetitions of a run."""

    def __init__(self, run: Run, part: int) -> None:
        kept = range(part * SEEDS + 1, (part + 1) * SEEDS + 1)
        cells = [cell for cell in run.manifest.cells if cell.repetition in kept]
        super().__init__(run.directory, run.manifest.model_copy(update={"cells": cells}))


def run(place: Path, change: tuple[str, str] = ("", "")) -> Run:
    place.mkdir()
    invoke("new", "control", "halve", "--out", str(place))
    text = (place / "halve.py").read_text()
    assert change[0] in text
    (place / "halve.py").write_text(text.replace(*change))
    (place / "gate.yaml").write_text(EXPERIMENT)
    invoke("run", str(place / "gate.yaml"), "--set", f"repetitions={PAIRS * SEEDS}", "--out", str(place))
    (directory,) = (place / "gate").iterdir()
    return Run(directory)


def invoke(*words: str) -> None:
    done = rogue(Path(), *words)
    assert done.code == 0, done.err


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    return parts(run(tmp_path_factory.mktemp("gate") / "baseline"))


def parts(whole: Run) -> list[Results]:
    return [Results(Part(whole, part)) for part in range(PAIRS)]


def fails(baseline: Results, candidate: Results) -> bool:
    return has_failed(checks_of(compare(baseline, candidate), baseline, candidate))


@pytest.mark.long
def test_a_changed_constant_is_caught(baseline: list[Results], tmp_path: Path) -> None:
    change = "target_ns: int = field(default=60_000", "target_ns: int = field(default=80_000"
    mutant = parts(run(tmp_path / "mutant", change))
    assert [fails(*pair) for pair in zip(baseline, mutant, strict=True)] == [True] * PAIRS


@pytest.mark.long
def test_an_unchanged_control_passes_with_other_seeds(baseline: list[Results]) -> None:
    others = [*baseline[1:], baseline[0]]
    assert not any(
        are_identical(one.run.manifest, each.run.manifest) for one, each in zip(baseline, others, strict=True)
    )
    assert [fails(*pair) for pair in zip(baseline, others, strict=True)] == [False] * PAIRS


EXAMPLE = CHECKOUT / "docs/how-to/gate"


@pytest.mark.long
def test_the_example_runs_in_the_repository_of_a_control(tmp_path: Path) -> None:
    """Its hook and its workflow pass what has not changed, and stop a changed constant."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    invoke("new", "control", "halve", "--out", str(tmp_path))
    (hook,) = yaml.safe_load((tmp_path / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    steps = yaml.safe_load((tmp_path / "gate.yml").read_text())["jobs"]["gate"]["steps"]
    assert './gate.sh "origin/$GITHUB_BASE_REF"' in [step.get("run") for step in steps]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def call(*words: str) -> int:
        return subprocess.run(words, cwd=tmp_path, env={**os.environ, "PATH": path}, check=False).returncode

    assert call("git", "init", "--quiet") == call("git", "add", "--all") == 0
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
    assert call("git", *identity, "commit", "--quiet", "-m", "first") == 0
    accepted = ("--finding", "dead-zone", "--shares", "dead-zone")
    assert call(*hook["entry"].split(), *accepted) == 0
    control = tmp_path / "halve.py"
    control.write_text(control.read_text().replace("default=60_000", "default=80_000"))
    assert call(*hook["entry"].split(), *accepted) == 9
    assert (tmp_path / "gate.md").read_text().startswith("## ❌ Regression")
    (tmp_path / "gate.xml").read_text().index("known weaknesses")
