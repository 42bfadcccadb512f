"""One made-up experiment on two testbeds: the second one is emulated, slower and drops more."""

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from helpers.sample_run import Sample, write_manifest, write_sample_run, write_table

from rogue.reports.reading.load import Run
from rogue.reports.results import Results

SLOWER = 0.5
BUSY_CORES = 0.97
FACTS = {
    "node_cores": 1,
    "nic": "rxe0 (software)",
    "rate_limiter": "tc htb (software)",
    "timestamps": "the host's clock (software)",
    "switch": "Linux tc (software)",
}


def two_testbeds(directory: Path, repetitions: int = 3) -> list[Results]:
    """Both runs; native RoCE has a result on the first one only."""
    sample = Sample(repetitions=repetitions)
    first = write_sample_run(directory / "simulator", sample)
    second = write_sample_run(
        directory / "virtual", Sample(("rogue",), repetitions=repetitions, unsupported=("roce",))
    )
    manifest = json.loads((second / "manifest.json").read_text())
    manifest["testbed"] = "virtual"
    for cell in manifest["cells"]:
        if cell["status"] == "ok":
            cell["facts"] |= FACTS
            _slow_down(second / "cells" / cell["id"])
    write_manifest(second, manifest)
    return [Results(Run(first)), Results(Run(second))]


def _slow_down(cell: Path) -> None:
    """Halve what arrives, double the drops, and record a busy sender."""
    for name, column in (("throughput", "delivered_bytes"), ("queues", "drops")):
        columns = pq.read_table(cell / f"{name}.parquet").to_pydict()
        change = _halved if name == "throughput" else _many
        write_table(cell / f"{name}.parquet", name, {**columns, column: list(map(change, columns[column]))})
    load: dict[str, Sequence[object]] = {
        "host": ["h0", "h1"],
        "t_ns": [10**9] * 2,
        "busy_cores": [BUSY_CORES, 0.2],
        "source": ["dool"] * 2,
    }
    write_table(cell / "cpu.parquet", "cpu", load)


def _halved(delivered_bytes: int) -> int:
    return int(delivered_bytes * SLOWER)


def _many(drops: int) -> int:
    return 1000 * drops + 1
