"""Experiment and data files for tests, and cells run from them."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from helpers.sample_run import write_manifest
from helpers.small_runs import cell, manifest
from pydantic_core import PydanticCustomError

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import FlowGroup
from rogue.harness.data.goal import read_goal
from rogue.harness.data.network import read_network
from rogue.harness.data.source import DataSource, data_source
from rogue.harness.data.trace import read_trace
from rogue.harness.experiment.choices import Scalar
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.results.tables import encode, to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.reports.cells.view import CellView
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.traffic.goal import GoalSchedule
from rogue.workloads.traffic.trace import TraceRows
from rogue.workloads.transports import parse_transport

TRAFFIC = Path(__file__).parents[1] / "data" / "traffic"
FLOWS, OTHER_FLOWS = TRAFFIC / "flows.csv", TRAFFIC / "other.csv"
NETWORK, OTHER_NETWORK = TRAFFIC / "network.yaml", TRAFFIC / "other.yaml"
NIC_PROFILE = TRAFFIC / "nic_profile.yaml"
GOAL, OTHER_GOAL = TRAFFIC / "ring.goal", TRAFFIC / "pair.goal"
SIZES = TRAFFIC / "sizes.csv"
LEAF_SPINE = """\
Nodes 8
Tiers 2
Podsize 8
Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Oversubscribed 2
Tier 1
Downlink_speed_Gbps 200
Radix_Down 2
Downlink_Latency_ns 500
"""
"""Of htsim: eight hosts below two leaves."""


def refusal(read: Callable[[DataSource], object], name: str, content: str | bytes) -> str:
    """Return the mistake that a reader finds in a file of this name."""
    with pytest.raises(PydanticCustomError) as caught:
        read(data_source(name, content.encode() if isinstance(content, str) else content))
    assert caught.value.context is not None
    return "{got}, expected {expected}; {advice}".format(**caught.value.context)


def trace_rows(text: str) -> TraceRows:
    """Return the trace in a CSV file with this text."""
    return read_trace(data_source("flows.csv", text.encode()))


def goal_schedule(text: str) -> GoalSchedule:
    """Return the schedule in a GOAL file with this text."""
    return read_goal(data_source("x.goal", text.encode()))


def link_list(text: str) -> LinkList:
    """Return the network in a YAML file with this text."""
    return read_network(data_source("net.yaml", text.encode()))


SMALL = """\
name: small
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us}
workload: {kind: incast, senders: 2, size: 1MB}
probe: {kind: write0, interval: 100us}
transports: [rogue, roce]
"""


def write_experiment(directory: Path, text: str = SMALL) -> str:
    """Write an experiment to a file; return its name."""
    file = directory / "experiment.yaml"
    file.write_text(text)
    return str(file)


def load_text(directory: Path, text: str = SMALL, *settings: str) -> LoadedExperiment:
    """Return the experiment that a text describes."""
    return load_experiment(write_experiment(directory, text), settings)


def cell_of(directory: Path, *settings: str, text: str = SMALL, index: int = 0) -> Cell:
    """Return one cell of the experiment."""
    return plan_cells(load_text(directory, text, *settings))[index]


def group_in(cell: Cell, transport: str, parameters: Mapping[str, Scalar] | None = None) -> FlowGroup:
    """Return a group in the cell's network with this transport and these parameters."""
    return FlowGroup("main", parse_transport(transport), transport, parameters or {}, 0, cell.topology)


RIGHT = """\
name: wrong
topology: {kind: star, hosts: 10, rate: 10Gbps, delay: 1us}
workload: {kind: incast, senders: 8, size: 128MB}
probe: {kind: write0, interval: 1ms}
transports: [rogue, roce]
"""
FILE = Path(__file__).parents[1] / "data/wrong_experiments.txt"


class WrongExperiment(NamedTuple):
    text: str
    lines: tuple[str, ...]
    """Lines, each with the number of a line before it."""


def _changed(blocks: list[str]) -> str:
    lines = {line.partition(":")[0]: line for line in RIGHT.splitlines(keepends=True)}
    added = []
    for block in blocks:
        key = re.split(r"[:\n]", block)[0]
        if key in lines:
            lines[key] = block
        elif key.startswith("-") and key[1:] in lines:
            del lines[key[1:]]
        else:
            added.append(block)
    return "".join([*lines.values(), *added])


def _read() -> dict[str, WrongExperiment]:
    found = {}
    for record in re.split(r"^== ", FILE.read_text(), flags=re.M)[1:]:
        name, _, rest = record.partition("\n")
        changes, *lines = re.split(r"^> ", rest, flags=re.M)
        blocks = re.split(r"^(?=\S)", changes, flags=re.M)[1:]
        found[name] = WrongExperiment(_changed(blocks), tuple(line.rstrip("\n") for line in lines))
    return found


WRONG_EXPERIMENTS = _read()


RECORDED = """\
name: recorded
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, buffer: 60KB, alpha: 1}
workload: {kind: incast, senders: 3, size: 200KB}
transports: [roce]
measure: [packets]
"""


def packets_of_cell(directory: Path, *settings: str, text: str = RECORDED) -> pd.DataFrame:
    """Return the table of packets, as a report reads it."""
    tables = simulated(directory, *settings, text=text).tables
    frame: pd.DataFrame = to_arrow("packets", tables["packets"]).to_pandas()
    return frame


def simulated(directory: Path, *settings: str, text: str = SMALL, index: int = 0) -> CellResult:
    """Return the simulator's result of one cell, which must not fail."""
    cell = cell_of(directory, *settings, text=text, index=index)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    assert result.failure is None
    return result


MEASURE = "measure=[throughput, queues, pauses, rtt, control, packets]"


def view_of(directory: Path, transport: str) -> CellView:
    """Return a cell of this transport with every table that a timeline shows."""
    result = simulated(directory, f"transports=[{transport}]", "topology.buffer=1MB", MEASURE, text=RECORDED)
    run = directory / "run"
    (run / "cells" / "c-r1").mkdir(parents=True)
    for name, content in encode(result.tables).items():
        (run / "cells" / "c-r1" / name).write_bytes(content)
    write_manifest(run, manifest([cell("c-r1")]))
    return Results(Run(run)).views["c-r1"]
