"""A published experiment, run as a user runs it, and its tables."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rogue.harness.errors import ExitCode

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class ExperimentRun:
    """The finished cells of one run."""

    directory: Path
    cells: list[dict[str, Any]]

    def table(self, name: str, transport: str = "rogue") -> pd.DataFrame:
        """One data frame over a transport's cells, with a column `seed` and one per factor."""
        frames = []
        for cell in self.cells:
            if cell["transport"] == transport:
                file = self.directory / "cells" / str(cell["id"]) / f"{name}.parquet"
                frames.append(pd.read_parquet(file).assign(seed=cell["seed"], **cell["factors"]))
        return pd.concat(frames, ignore_index=True)

    def seeds(self) -> set[int]:
        """Seeds of the finished cells."""
        return {cell["seed"] for cell in self.cells}


MTU_OF_BOUNDS = "topology.mtu=1024"
"""Bounds of RoGUE's acceptance were fixed before the paper's experiments took packets of 2048 bytes."""


def run_experiment(name: str, out: Path, *settings: str) -> ExperimentRun:
    """Run an experiment of the checkout; every cell must finish. Skips with the reason if one cannot run."""
    command = [sys.executable, "-m", "rogue", "run", name, "--out", str(out), "--jobs", str(jobs())]
    command += [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode == ExitCode.NOTHING_TO_RUN:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    run = Path(done.stdout.strip().splitlines()[-1])
    manifest = json.loads((run / "manifest.json").read_text())
    for cell in manifest["cells"]:
        if cell["status"] == "unsupported":
            pytest.skip(f"{name}: {cell['message']}")
    unfinished = [cell["id"] for cell in manifest["cells"] if cell["status"] != "ok"]
    assert not unfinished, unfinished
    return ExperimentRun(run, manifest["cells"])


def jobs() -> int:
    """Return this process's share of the cores, if the tests run in several."""
    return max(1, len(os.sched_getaffinity(0)) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def nearest_rank(values: pd.Series, percent: float) -> float:
    """Percentile as one of the values."""
    return float(np.sort(values)[int(np.ceil(percent / 100 * len(values))) - 1])


def jain(rates: pd.Series) -> float:
    """Jain's fairness index."""
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))
