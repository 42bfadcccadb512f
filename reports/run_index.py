"""Find the runs of a results directory and read a line about each; their files are not trusted."""

import hashlib
import json
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rogue.reports.errors import ReportError
from rogue.reports.quantities import counted
from rogue.reports.reading.files import CLAIMS, REPORT, TEXT_BYTES_MAX
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.printable import parse_json
from rogue.workloads.records import SCHEMA_VERSION

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


LENGTH_MAX: Final = 200
REPLACEMENT: Final = "\ufffd"


def shown(value: object) -> str:
    """Return a text on one line, without control characters and marks of writing direction."""
    letters = [REPLACEMENT if unicodedata.category(letter)[0] == "C" else letter for letter in str(value)]
    text = " ".join("".join(letters).split())
    return text if len(text) <= LENGTH_MAX else text[: LENGTH_MAX - 1] + "…"


class State(StrEnum):
    """State of a run or report directory."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    RUNNING = "running"
    STOPPED = "killed"
    """The manifest has the status `running`, but no process has the lock."""
    DAMAGED = "damaged"
    REPORT = "report"
    """A report over several runs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The line of one directory; all texts are safe to print."""

    directory: Path
    state: State
    created: str
    """For example `2026-11-20 10:15:00`; empty if it is unknown."""
    experiment: str = ""
    title: str = ""
    testbed: str = ""
    done: int = 0
    total: int = 0
    failed: int = 0
    verdicts: str = ""
    problem: str = ""
    """A problem, as a sentence."""
    size_bytes: int = 0
    report: Path | None = None
    run_id: str = ""

    @property
    def status(self) -> str:
        """Return the state with its numbers."""
        match self.state:
            case State.DAMAGED:
                text = self.state.value
            case State.REPORT:
                text = f"{self.state.value} on {counted(self.total, 'run')}"
            case State.COMPLETE:
                text = f"{self.state.value}, {counted(self.total, 'cell')}"
            case _:
                text = f"{self.state.value}, {self.done} of {self.total}"
        return f"{text}, {self.failed} failed" if self.failed else text


_RUN_NAME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{6}")
_UNJUDGED: Final = {"not run", "needs hardware"}
_VERDICTS: Final = (
    "reproduced", "agrees", "close", "few seeds", "other conditions", "undecided", "right sign", "direction",
    "missed",
)  # fmt: skip

IsLocked = Callable[[Path], bool]


class _DamagedError(Exception):
    """The text is a sentence about the damage."""


def is_run_name(name: str) -> bool:
    """True if it is the name of a run by `rogue run`."""
    return _RUN_NAME.fullmatch(name) is not None


def is_regular(path: Path) -> bool:
    """True if a path is a file, not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_entry(directory: Path, is_locked: IsLocked) -> Entry:
    """Read a run's line; an unreadable run becomes a damaged entry."""
    try:
        return _run_entry(directory, _object(directory / MANIFEST), is_locked)
    except _DamagedError as error:
        return Entry(
            directory,
            State.DAMAGED,
            _created(None, directory),
            shown(directory.parent.name),
            problem=str(error),
        )


def _run_entry(directory: Path, manifest: Mapping[str, object], is_locked: IsLocked) -> Entry:
    version, cells, experiment = (manifest.get(key) for key in ("schema_version", "cells", "experiment"))
    has_version = isinstance(version, int) and not isinstance(version, bool)
    if not has_version or not isinstance(cells, list) or not isinstance(experiment, dict):
        raise _DamagedError(f"{MANIFEST} is not what `rogue run` writes")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise _DamagedError(f"it was written by a later version (schema {version}); update rogue")
    states = Counter(str(cell.get("status")) for cell in cells if isinstance(cell, dict))
    state = _state(manifest, directory, is_locked)
    done = states["ok"]
    if state in (State.RUNNING, State.STOPPED):  # the manifest is a little behind then
        done = max(done, _finished_cells(directory))
    name = shown(experiment.get("name") or directory.parent.name)
    return Entry(
        directory=directory,
        state=state,
        created=_created(manifest.get("created_utc"), directory),
        experiment=name,
        title=shown(experiment.get("title") or name),
        testbed=shown(manifest.get("testbed") or ""),
        done=done,
        total=len(cells),
        failed=states["failed"],
        verdicts=_verdicts(judged_outcomes(directory / CLAIMS)),
        size_bytes=size_of(directory),
        report=_report(directory),
        run_id=shown(manifest.get("run_id") or directory.name),
    )


def _state(manifest: Mapping[str, object], directory: Path, is_locked: IsLocked) -> State:
    match manifest.get("status"):
        case "complete":
            return State.COMPLETE
        case "partial":
            return State.RUNNING if is_locked(directory) else State.PARTIAL
        case "running":
            return State.RUNNING if is_locked(directory) else State.STOPPED
        case other:
            raise _DamagedError(f"{MANIFEST} has the status {shown(repr(other))}, which is none")


def read_combined(directory: Path, known: Collection[str]) -> Entry:
    """Read the line of a report over several runs; `known` are the ids of the runs found."""
    try:
        runs = _object(directory / RUNS).get("runs")
        if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
            raise _DamagedError(f"{RUNS} is not what `rogue report` writes")
    except _DamagedError as error:
        return Entry(directory, State.DAMAGED, _created(None, directory), "reports", problem=str(error))
    names = list(dict.fromkeys(shown(run.get("experiment", "")) for run in runs))
    gone = sum(str(run.get("run_id")) not in known for run in runs)
    return Entry(
        directory=directory,
        state=State.REPORT,
        created=_created(None, directory),
        experiment=shown(", ".join(names)),
        title=f"Report on {len(runs)} runs",
        done=len(runs) - gone,
        total=len(runs),
        problem=f"{gone} of its runs not found here" if gone else "",
        size_bytes=size_of(directory),
        report=_report(directory),
    )


def _json(path: Path) -> object:
    """Return the content of a file of bounded size that is no link."""
    if not is_regular(path):
        raise _DamagedError(f"{path.name} is missing")
    try:
        if path.stat().st_size > TEXT_BYTES_MAX:
            raise _DamagedError(f"{path.name} is larger than any that `rogue` writes")
        return parse_json(path.read_bytes())
    except OSError as error:
        raise _DamagedError(f"{path.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _DamagedError(f"{path.name} is not valid JSON") from error


def _object(path: Path) -> Mapping[str, object]:
    content = _json(path)
    if not isinstance(content, dict):
        raise _DamagedError(f"{path.name} is not what `rogue` writes")
    return content


def judged_outcomes(path: Path) -> list[dict[str, object]]:
    """Return the outcomes with a verdict from a claims.json of any version."""
    try:
        content = _json(path)
    except _DamagedError:
        return []
    outcomes = content.get("outcomes") if isinstance(content, dict) else content
    if not isinstance(outcomes, list):
        return []
    return [each for each in outcomes if isinstance(each, dict) and _is_judged(each)]


def _verdicts(judged: Sequence[dict[str, object]]) -> str:
    """Count each verdict of the headline."""
    counts = Counter(shown(each["verdict"]) for each in judged if each.get("is_headline") is not False)
    order = sorted(counts, key=_rank)
    parts = [f"{counts[verdict]} {verdict}" for verdict in order]
    badged = len(judged) - counts.total()
    return ", ".join([*parts, f"{badged} with badges"] if badged else parts)


def _is_judged(outcome: dict[str, object]) -> bool:
    verdict = outcome.get("verdict")
    return isinstance(verdict, str) and verdict not in _UNJUDGED


def _rank(verdict: str) -> tuple[int, str]:
    places = [place for place, word in enumerate(_VERDICTS) if verdict.startswith(word)]
    return (places[0] if places else len(_VERDICTS), verdict)


def _created(stated: object, directory: Path) -> str:
    """Return when it began: as its manifest states, else from its name."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z", stated) if isinstance(stated, str) else None
    if match:
        return f"{match[1]} {match[2]}"
    named = _RUN_NAME.fullmatch(directory.name)
    return "{}-{}-{} {}:{}:{}".format(*named.groups()) if named else ""


def _report(directory: Path) -> Path | None:
    """Return its report; that of a running run is beside the directory."""
    for path in (directory / REPORT, directory.with_name(f"{directory.name}-partial.html")):
        if is_regular(path):
            return path
    return None


def _finished_cells(directory: Path) -> int:
    try:
        with os.scandir(directory / "cells") as found:
            return sum(not each.name.startswith(".") and ".failed-" not in each.name for each in found)
    except OSError:
        return 0


def size_of(directory: Path) -> int:
    """Return the bytes in all files of a directory; links are not followed."""
    total, waiting = 0, [directory]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for each in found:
                    if each.is_dir(follow_symlinks=False):
                        waiting.append(Path(each.path))
                    else:
                        total += each.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


DEPTH_MAX: Final = 2
"""results/<experiment>/<run>"""


def find_entries(results: Path, is_locked: IsLocked, experiment: str | None = None) -> list[Entry]:
    """Return the runs and reports below a directory, or those of one experiment, newest first."""
    runs, reports = [], []
    for directory in _candidates(results):
        if is_regular(directory / RUNS) and not is_regular(directory / MANIFEST):
            reports.append(directory)
        else:
            runs.append(read_entry(directory, is_locked))
    known = {entry.run_id for entry in runs}
    entries = [*runs, *(read_combined(directory, known) for directory in reports)]
    if experiment is not None:
        entries = [entry for entry in entries if shown(experiment) in entry.experiment.split(", ")]
    return sorted(entries, key=lambda entry: (entry.created, str(entry.directory)), reverse=True)


def _candidates(results: Path, depth: int = 0) -> Iterator[Path]:
    """Yield directories that may be a run, or a report over several."""
    if is_run_name(results.name) or any(is_regular(results / name) for name in (MANIFEST, RUNS)):
        yield results
    elif depth < DEPTH_MAX:
        for directory in _directories(results):
            yield from _candidates(directory, depth + 1)


def _directories(directory: Path) -> list[Path]:
    try:
        with os.scandir(directory) as found:
            names = [
                each.name
                for each in found
                if not each.name.startswith(".") and each.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return [directory / name for name in sorted(names)]
