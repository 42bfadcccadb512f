"""Run directories of a few rows written by hand, for worked examples."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from helpers.sample_run import Columns, write_manifest, write_table

from rogue.reports.cells.transfers import Transfers, transfers_of
from rogue.reports.cells.view import CellView
from rogue.reports.reading.load import Run
from rogue.workloads.records import SCHEMA_VERSION, TABLES

PLACE = {
    "git": {"commit": None, "dirty": None}, "versions": {},
    "host": {"cpu": None, "cores": 1, "memory_bytes": None, "kernel": "Linux"},
}  # fmt: skip
SOURCE = {"file": "x.yaml", "sha256": "0" * 64, "set": [], "data": {}}
FILLER: dict[str, object] = {"int64": 0, "float64": 0.0, "string": "", "bool": False}
SECOND = 1_000_000_000


def filled(name: str, rows: Sequence[Mapping[str, object]]) -> Columns:
    """Turn rows that state only what matters into whole columns of a table."""
    return {
        column.name: [row.get(column.name, None if column.nullable else FILLER[column.type]) for row in rows]
        for column in TABLES[name].columns
    }


def manifest(cells: list[dict[str, object]], **changes: object) -> dict[str, object]:
    """Return a manifest with these cells."""
    return {
        "schema_version": SCHEMA_VERSION, "run_id": "20261120T101500Z-000000", "status": "complete",
        "testbed": "simulator", "created_utc": "2026-11-20T10:15:00Z", "command": ["rogue", "run", "x.yaml"],
        "experiment": {"name": "tiny", "title": "Tiny"}, "source": SOURCE, "sessions": [], **PLACE,
        "cells": cells, **changes,
    }  # fmt: skip


def session(commit: str) -> dict[str, object]:
    """Return the manifest's entry of a call of `rogue run` with the code of a commit."""
    git = {"commit": commit, "dirty": False}
    return {"created_utc": "t", "command": ["rogue", "run", "x.yaml"], **PLACE, "git": git}


def cell(cell_id: str = "rogue-r1", **changes: object) -> dict[str, object]:
    """Return the manifest's entry of a finished cell."""
    return {
        "id": cell_id, "transport": "rogue", "transport_name": changes.get("transport", "rogue"),
        "factors": {}, "repetition": 1, "seed": 1, "status": "ok", "facts": {}, **changes,
    }  # fmt: skip


def tiny_view(
    directory: Path, tables: Mapping[str, Sequence[Mapping[str, object]]], **facts: object
) -> CellView:
    """Write a run of one cell with these rows and return the cell."""
    for name, rows in tables.items():
        write_table(directory / "cells" / "rogue-r1" / f"{name}.parquet", name, filled(name, rows))
    write_manifest(directory, manifest([cell(facts=facts)]))
    run = Run(directory)
    return CellView(run, run.manifest.cells[0])


def transfer(flow_id: str, **changes: object) -> dict[str, object]:
    """Return a row of `flows`: a transfer of 1000 bytes that ran to its end at 2 s."""
    return {
        "flow_id": flow_id, "size_bytes": 1000, "start_ns": 0, "end_ns": 2 * SECOND, "status": "ok",
        "retransmitted_bytes": 0, **changes,
    }  # fmt: skip


def transfers(*rows: Mapping[str, object]) -> Transfers:
    """Return what reports read of rows of `flows`."""
    return transfers_of(pd.DataFrame(filled("flows", rows)))


def delivery(flow_id: str, t_ns: int, delivered_bytes: int, interval_ns: int = SECOND) -> dict[str, object]:
    """Return a row of `throughput`."""
    return {
        "flow_id": flow_id, "t_ns": t_ns, "interval_ns": interval_ns, "delivered_bytes": delivered_bytes,
        "goodput_bps": delivered_bytes * 8e9 / interval_ns,
    }  # fmt: skip


def queue_view(directory: Path, sizes_bytes: Sequence[int], step_ns: int) -> CellView:
    """A cell whose bottleneck's queue had these sizes, one per step, under a flow that lasts."""
    flow_id = "main/h0->h2"
    times = [step_ns * (n + 1) for n in range(len(sizes_bytes))]
    tables = {
        "flows": [transfer(flow_id, end_ns=None, status="unfinished")],
        "throughput": [delivery(flow_id, t, 1000, step_ns) for t in times],
        "queues": [
            {"port": "s0->h2", "t_ns": t, "bytes": size} for t, size in zip(times, sizes_bytes, strict=True)
        ],
    }
    return tiny_view(directory, tables, bottleneck_port="s0->h2")
