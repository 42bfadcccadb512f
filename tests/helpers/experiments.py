"""Experiment files for tests."""

from collections.abc import Mapping
from pathlib import Path

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Carrier
from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plan.cells import plan_cells
from rogue.workloads.transports import parse_transport

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


def carrier(transport: str, parameters: Mapping[str, Scalar] | None = None) -> Carrier:
    """A transport with parameters, as a group has them."""
    return Carrier("main", parse_transport(transport), transport, parameters or {}, 0)
