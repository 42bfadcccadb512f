"""How long a trace takes to be read: a million transfers in CSV of 64 MB, and in Parquet.

python benchmarks/trace.py
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Final

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from rogue.harness.data.source import read_source
from rogue.harness.data.trace import read_trace

ROWS: Final = 1_000_000
HOSTS: Final = 1024
REPEATS: Final = 5


def table() -> pa.Table:
    """Transfers between random hosts, in rows of 64 bytes."""
    random = np.random.default_rng(1)
    sources = random.integers(0, HOSTS, ROWS)
    destinations = (sources + random.integers(1, HOSTS, ROWS)) % HOSTS
    return pa.table(
        {
            "start_ns": [f"{start:030d}" for start in np.sort(random.integers(0, 10**9, ROWS))],
            "src": [f"h{host}" for host in sources],
            "dst": [f"h{host}" for host in destinations],
            "size_bytes": [f"{size:010d}" for size in random.integers(1, 10**6, ROWS)],
            "group": [f"job-{host % 16:08d}" for host in sources],
        }
    )


def main() -> None:
    """Print one line per format."""
    rows = table()
    with tempfile.TemporaryDirectory() as directory:
        files = [Path(directory) / "flows.csv", Path(directory) / "flows.parquet"]
        csv.write_csv(rows, files[0], csv.WriteOptions(quoting_style="none"))
        parquet.write_table(rows, files[1])
        for file in files:
            wall, processor = [], []
            for _ in range(REPEATS):
                begun, used = time.perf_counter(), time.process_time()
                read_trace(read_source(file, file.name))
                wall.append(time.perf_counter() - begun)
                processor.append(time.process_time() - used)
            size_bytes = file.stat().st_size
            sys.stdout.write(
                f"{file.suffix[1:]}: {size_bytes / 1e6:.1f} MB in {statistics.median(wall):.2f} s"
                f" ({statistics.median(processor):.2f} s of processor time)\n"
            )
    sys.stdout.write(f"largest resident size: {getrusage(RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB\n")


if __name__ == "__main__":
    main()
