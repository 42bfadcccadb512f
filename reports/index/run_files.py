"""Files that a run has for the index: tags, and which runs a combined report is over."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from rogue.reports.errors import ReportError
from rogue.reports.reading.files import read_regular, write_whole
from rogue.workloads.printable import parse_json

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


TAGS: Final = "tags.json"
TAGS_MAX: Final = 16
"""Tags of one run."""
_TAG: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")

Tags = dict[str, tuple[str, ...]]
"""Tags by the id of a run."""


def read_tags(results: Path) -> Tags:
    """Return the tags of a results directory; invalid ones are left out."""
    try:
        content = _content(results / TAGS)
    except (OSError, ValueError):
        return {}
    return {
        run: tuple(tag for tag in tags if isinstance(tag, str) and _TAG.fullmatch(tag))[:TAGS_MAX]
        for run, tags in content.items()
        if isinstance(tags, list)
    }


def _content(path: Path) -> dict[str, JsonValue]:
    """Return the content of the file; OSError or ValueError if it is no file of tags."""
    if path.is_symlink():
        raise ValueError("a link")
    content = parse_json(read_regular(path))
    if not isinstance(content, dict):
        raise ValueError("no object")
    return content


def write_tags(results: Path, run_id: str, tags: Sequence[str]) -> None:
    """Replace the tags of a run; ReportError if one is invalid."""
    for tag in tags:
        if not _TAG.fullmatch(tag):
            expected = "small letters, digits, ., _ and -, up to 32, a letter or digit first"
            raise ReportError(f"tag: got {tag!r}, expected {expected}; choose another word.")
    if len(tags) > TAGS_MAX:
        raise ReportError(f"tag: got {len(tags)} tags, expected at most {TAGS_MAX}; leave some out.")
    path = results / TAGS
    try:
        _content(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        expected = "tags as `rogue tag` writes them"
        raise ReportError(f"{path}: got {error}, expected {expected}; correct or remove it.") from error
    known = read_tags(results) | {run_id: tuple(dict.fromkeys(tags))}
    kept = {run: list(words) for run, words in sorted(known.items()) if words}
    write_whole(path, json.dumps(kept, indent=1) + "\n")
