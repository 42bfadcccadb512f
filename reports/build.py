"""From run directories to one report."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from reports.claims import Outcome, claims_sha256, evaluate, read_claims
from reports.errors import ReportError
from reports.load import Run
from reports.manifest import Manifest
from reports.page import render, run_section
from reports.results import Results
from reports.side_by_side import side_by_side

REPORT = "report.html"
CLAIMS = "claims.json"
CLAIMS_SCHEMA = 1


def build(run_dirs: Path | Sequence[Path], output: Path | None = None) -> Path:
    """Write one offline HTML report over one or several runs, and `claims.json` into each run directory.

    The report of one run stands in its directory, that of several beside the first one, unless `output`
    names a file. A run that cannot be read becomes a sentence in the report; if none can be read, that
    sentence is the ReportError.
    """
    directories = [run_dirs] if isinstance(run_dirs, Path) else list(run_dirs)
    if not directories:
        raise ReportError("No run directory was given; give at least one, results/<experiment>/<time>-<id>.")
    runs, unreadable = _load(directories)
    if not runs:
        raise ReportError(" ".join(unreadable))
    path = output or (directories[0] if len(directories) == 1 else directories[0].resolve().parent) / REPORT
    sections, measured = [], [Results(run) for run in runs]
    for number, results in enumerate(measured, start=1):
        run = results.run
        outcomes = evaluate(read_claims(), results)
        _write(run.directory / CLAIMS, claims_text(run.manifest, outcomes))
        level = 2 if len(runs) == 1 else 3
        sections.append(run_section(f"run{number}", level, results, outcomes, path.parent))
    _write(path, render(sections, side_by_side(measured), unreadable))
    return path


def claims_text(manifest: Manifest, outcomes: Sequence[Outcome]) -> str:
    """Return the content of `claims.json`: every claim, also those that the run is not about."""
    content = {
        "schema": CLAIMS_SCHEMA,
        "claims_sha256": claims_sha256(),
        "run_id": manifest.run_id,
        "commit": manifest.git.commit,
        "outcomes": [outcome.as_json() for outcome in outcomes],
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)


def _load(directories: list[Path]) -> tuple[list[Run], list[str]]:
    runs, unreadable = [], []
    for directory in directories:
        try:
            runs.append(Run(directory))
        except ReportError as error:
            unreadable.append(str(error))
    return runs, unreadable


def _write(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise ReportError(
            f"{path}: the report cannot be written: {error.strerror}; free space or choose another place."
        ) from error
