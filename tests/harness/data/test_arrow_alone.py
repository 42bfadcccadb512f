"""pyarrow without pandas, and with pandas once somebody wants a frame."""

import subprocess
import sys

import pytest

MAKES_TABLE = """
from rogue.harness.results.tables import to_arrow
from rogue.workloads.records import TABLES
table = to_arrow("latency", {column: [] for column in TABLES["latency"].column_names()})
"""
READS_TRACE = """
from rogue.harness.data.source import data_source
from rogue.harness.data.trace import read_trace
trace = read_trace(data_source("t.csv", b"start_ns,src,dst,size_bytes\\n0,h0,h1,1\\n"))
import pyarrow
table = pyarrow.table({"size_bytes": pyarrow.array(trace.sizes_bytes[:0])})
"""


@pytest.mark.parametrize("program", [MAKES_TABLE, READS_TRACE])
def test_pandas_is_loaded_when_somebody_wants_a_frame(program: str) -> None:
    wants_frame = """
import sys
assert "pandas" not in sys.modules
assert table.to_pandas().empty
import pandas, pyarrow
assert pyarrow.array(pandas.Series([1, None])).null_count == 1
"""
    subprocess.run([sys.executable, "-c", program + wants_frame], check=True)
