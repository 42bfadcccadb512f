"""Files of data for tests."""

from pathlib import Path

from harness.data.source import data_source
from harness.data.trace import read_trace
from workloads.traffic.trace_rows import TraceRows

TRAFFIC = Path(__file__).parents[1] / "data" / "traffic"
FLOWS, OTHER_FLOWS = TRAFFIC / "flows.csv", TRAFFIC / "other.csv"


def trace_rows(text: str) -> TraceRows:
    """What a CSV file of this text says."""
    return read_trace(data_source("flows.csv", text.encode()))
