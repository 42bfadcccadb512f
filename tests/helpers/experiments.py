"""Experiment files for tests."""

from pathlib import Path

from harness.experiment.load import LoadedExperiment, load_experiment
from harness.plan.cells import Cell, plan_cells

SMALL = """\
name: small
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us}
workload: {kind: incast, senders: 2, size: 1MB}
probe: {kind: write0, interval: 100us}
transports: [rogue, roce]
"""


def write_experiment(directory: Path, text: str = SMALL) -> str:
    """Put an experiment into a file; its name."""
    file = directory / "experiment.yaml"
    file.write_text(text)
    return str(file)


def load_text(directory: Path, text: str = SMALL, *settings: str) -> LoadedExperiment:
    """The experiment that a text describes."""
    return load_experiment(write_experiment(directory, text), settings)


def cell_of(directory: Path, *settings: str, text: str = SMALL, index: int = 0) -> Cell:
    """One of its cells."""
    return plan_cells(load_text(directory, text, *settings))[index]
