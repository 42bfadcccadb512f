"""Cells whose packets were recorded, and their captures."""

from pathlib import Path

import pandas as pd
from helpers.experiments import cell_of

from rogue.harness.results.cell_directory import to_arrow
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.simulator import SimulatorTestbed

RECORDED = """\
name: recorded
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us, buffer: 60KB, alpha: 1}
workload: {kind: incast, senders: 3, size: 200KB}
transports: [roce]
measure: [packets]
"""


def packets_of_cell(directory: Path, *settings: str, text: str = RECORDED) -> pd.DataFrame:
    """The table of packets, as a report reads it."""
    tables = result_of_cell(directory, *settings, text=text).tables
    frame: pd.DataFrame = to_arrow("packets", tables["packets"]).to_pandas()
    return frame


def result_of_cell(directory: Path, *settings: str, text: str = RECORDED) -> CellResult:
    """What the simulator says about the first cell."""
    result = SimulatorTestbed().run(cell_of(directory, *settings, text=text), lambda _fraction: None)
    assert result.failure is None
    return result
