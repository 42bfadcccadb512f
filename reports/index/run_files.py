"""The directory of a report over several runs, and its list of them."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rogue.reports.errors import ReportError

if TYPE_CHECKING:
    from rogue.reports.reading.load import Run

REPORTS: Final = "reports"
RUNS: Final = "runs.json"
SCHEMA: Final = 1


def results_directory(run: Path, experiment: str) -> Path | None:
    """Return the directory of results around a run if `rogue run` put it there; else None."""
    run = run.resolve()
    return run.parent.parent if run.parent.name == experiment else None


def combined_directory(runs: Sequence["Run"]) -> Path:
    """Return the directory of the report over these runs: the same for the same runs, whatever their order.

    Its name is the time of the newest run and a hash of all their ids.
    """
    first = runs[0]
    results = results_directory(first.directory, first.manifest.name) or first.directory.resolve().parent
    identifiers = sorted(run.manifest.run_id for run in runs)
    newest = max(run.manifest.created_utc for run in runs)
    time = "".join(letter for letter in newest if letter in "0123456789TZ")[:16]
    digest = hashlib.sha256("\n".join(identifiers).encode()).hexdigest()[:6]
    return results / REPORTS / f"{time}-{digest}"


def make_combined_directory(runs: Sequence["Run"]) -> Path:
    """Make that directory if it is not there yet."""
    directory = combined_directory(runs)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(
            f"{directory}: the report cannot be written: {error.strerror}; name another place with --out."
        ) from error
    return directory


def runs_text(runs: Sequence["Run"]) -> str:
    """Return `runs.json`: the runs of a report."""
    entries = [
        {
            "run_id": run.manifest.run_id,
            "experiment": run.manifest.name,
            "title": run.manifest.title,
            "created_utc": run.manifest.created_utc,
        }
        for run in runs
    ]
    return json.dumps({"schema": SCHEMA, "runs": entries}, indent=1, ensure_ascii=False) + "\n"
