"""Run directories, manifests and claims of a few rows, written by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from helpers.sample_run import Columns, write_manifest, write_table

from rogue.harness.results.verification import compare_files
from rogue.reports.board import StoredOutcome
from rogue.reports.cells.transfers import Transfers, transfers_of
from rogue.reports.cells.view import CellView
from rogue.reports.claims import Claim, Outcome, claims_sha256, evaluate, measures_sha256
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import MeanInterval
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.workloads.manifest import CellRecord, Manifest, checksum_of
from rogue.workloads.records import SCHEMA_VERSION, TABLES, CellStatus, FailureKind


def cell_record(identifier: str = "rogue-r1", **changes: object) -> CellRecord:
    """Return the record of a cell that has not run yet."""
    fields = {"transport": "rogue", "transport_name": "rogue", "factors": {}, "repetition": 1, "seed": 1}
    return CellRecord.model_validate({"id": identifier} | fields | changes)


def check_files(run: Path, expected: Mapping[str, str]) -> list[str]:
    """Return a sentence for each file that is missing, changed or added."""
    return list(map(str, compare_files(run, expected).differences))


def failed_record(identifier: str = "rogue-r1") -> CellRecord:
    """Return the record of a failed cell."""
    return cell_record(identifier, status=CellStatus.FAILED, failure_kind=FailureKind.BUG, message="as asked")


PLACE = {
    "git": {"commit": None, "dirty": None}, "versions": {},
    "host": {"cpu": None, "cores": 1, "memory_bytes": None, "kernel": "Linux"},
}  # fmt: skip
CREATED = "2026-11-20T10:15:00Z"


def manifest_of(cells: Sequence[CellRecord], sessions: int = 1, **changes: object) -> Manifest:
    """Return the manifest of a run in progress, with these cells, by this number of calls of `rogue run`."""
    session = {"created_utc": CREATED, "command": ["rogue", "run"], **PLACE}
    fields: dict[str, object] = {
        "run_id": "20261120T101500Z-000001", "status": "running", "testbed": "fake",
        "experiment": {"name": "small", "title": "A <small> one"}, "sessions": [session] * sessions,
    }  # fmt: skip
    return Manifest.model_validate(manifest([cell.model_dump() for cell in cells], **fields | changes))


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


def measure(
    directory: Path, metric: str, tables: Mapping[str, Sequence[Mapping[str, object]]], **facts: object
) -> float | None:
    """Return a metric of a cell with these rows."""
    return METRICS[metric].of(tiny_view(directory, tables, **facts), SECOND)


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


COMMIT = "1234567890abcdef1234567890abcdef12345678"


def outcome(name: str = "R-16-p50", **changes: object) -> StoredOutcome:
    """Return a reproduced claim over five seeds under its own conditions."""
    fields = {
        "id": name, "transport": "rogue", "factors": {}, "published_text": "1.20 Gb/s",
        "measured_text": "99.0 %",
        "interval_text": "98.0 to 99.5 %", "n": 5, "seeds": [1, 2, 3, 4, 5], "own_conditions": True,
        "verdict": "reproduced", "verdict_text": "reproduced", "reasons": "Published: 99.2 %.",
    }  # fmt: skip
    return StoredOutcome.model_validate({**fields, **changes})


def write_run(directory: Path, *outcomes: StoredOutcome, **changes: object) -> Path:
    """Write a run's directory with its manifest and what it says to the claims."""
    directory.mkdir(parents=True)
    facts = {
        "run_id": directory.name,
        "source": {"file": "experiments/rogue-paper/incast.yaml", "sha256": "0", "set": [], "data": {}},
        "git": {"commit": COMMIT, "dirty": False},
        "files": {},
    }
    cells = [cell()]
    whole = manifest(cells, **{**facts, **changes})
    (directory / "manifest.json").write_text(json.dumps({**whole, "checksum": checksum_of(whole)}))
    content = {
        "schema": 1,
        "claims_sha256": claims_sha256(),
        "measures_sha256": measures_sha256(),
        "run_id": directory.name,
        "outcomes": [each.model_dump(mode="json") for each in outcomes],
    }
    (directory / "claims.json").write_text(json.dumps(content))
    return directory


FIELDS: dict[str, object] = {
    "id": "X-1", "statement": "s.", "metric": "jain", "transport": "rogue",
    "kind": "published", "judged_by": "number",
    "published": 0.9, "published_text": "0.9", "tolerance": 0.02, "note": "n.", "experiments": ("own",),
}  # fmt: skip


def claim_of(**changes: object) -> Claim:
    """Return a published claim of Jain's index, 0.9 within 0.02, with these changes."""
    return Claim.model_validate(FIELDS | changes)


def judge(results: Results, **changes: object) -> Outcome:
    """Return the one outcome of that claim."""
    (outcome,) = evaluate([claim_of(**changes)], results)
    return outcome


Measured = dict[str, MeanInterval | None]
"""Measured values of a claim's metric, by transport."""


def narrow(mean: float) -> MeanInterval:
    """Return three runs that agree."""
    return MeanInterval(mean, mean, mean, 3)
