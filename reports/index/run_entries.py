"""Find the runs of a results directory and read a line about each; their files are not trusted."""

import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from rogue.reports.index.run_files import RUNS, Tags, data_checksum, read_tags
from rogue.reports.quantities import counted
from rogue.reports.reading.files import CLAIMS, REPORT, TEXT_BYTES_MAX
from rogue.workloads.json_text import parse_json
from rogue.workloads.manifest import MANIFEST
from rogue.workloads.records import SCHEMA_VERSION

LENGTH_MAX: Final = 200
REPLACEMENT: Final = "\ufffd"


def shown(value: object) -> str:
    """Return a text on one line without anything that steers a terminal or turns the direction of writing."""
    letters = [REPLACEMENT if unicodedata.category(letter)[0] == "C" else letter for letter in str(value)]
    text = " ".join("".join(letters).split())
    return text if len(text) <= LENGTH_MAX else text[: LENGTH_MAX - 1] + "…"


class State(StrEnum):
    """What can be said of a directory in a word."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    RUNNING = "running"
    STOPPED = "killed"
    """The run's manifest says that it runs, but no process works on it."""
    DAMAGED = "damaged"
    REPORT = "report"
    """A report over several runs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line; every text is fit to be shown."""

    directory: Path
    state: State
    created: str
    """As `2026-11-20 10:15:00`, empty if it is not known."""
    experiment: str = ""
    title: str = ""
    testbed: str = ""
    done: int = 0
    total: int = 0
    failed: int = 0
    verdicts: str = ""
    tags: tuple[str, ...] = ()
    problem: str = ""
    """What is wrong with it, as a sentence."""
    size_bytes: int = 0
    is_size_whole: bool = True
    report: Path | None = None
    run_id: str = ""
    data_sha256: str = ""
    """One checksum of all that it measured."""

    @property
    def status(self) -> str:
        """Return the state with the numbers that belong to it."""
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


FILES_MAX: Final = 50_000
"""The size of a directory with more files is given as a lower bound."""
_RUN_NAME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{6}")
_UNJUDGED: Final = {"not run", "needs hardware"}
_VERDICTS: Final = (
    "reproduced", "agrees", "close", "few seeds", "other conditions", "undecided", "right sign", "direction",
    "missed",
)  # fmt: skip

IsLocked = Callable[[Path], bool]


class _DamagedError(Exception):
    """What is wrong, as a sentence."""


def is_run_name(name: str) -> bool:
    """Return whether `rogue run` would name a run so."""
    return _RUN_NAME.fullmatch(name) is not None


def is_regular(path: Path) -> bool:
    """Return whether a path is a file itself, not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_entry(directory: Path, is_locked: IsLocked) -> Entry:
    """Read a run's line; what cannot be read becomes a damaged entry with a sentence."""
    try:
        return _run_entry(directory, _object(directory / MANIFEST), is_locked)
    except _DamagedError as error:
        return Entry(
            directory, State.DAMAGED, _created(None, directory), _name(directory.parent), problem=str(error)
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
    size_bytes, whole = size_of(directory)
    files = manifest.get("files")
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
        verdicts=_verdicts(_judged(directory / CLAIMS)),
        size_bytes=size_bytes,
        is_size_whole=whole,
        report=_report(directory),
        run_id=shown(manifest.get("run_id") or directory.name),
        data_sha256=data_checksum(files if isinstance(files, dict) else {}),
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


def read_combined(directory: Path, known: Mapping[str, str]) -> Entry:
    """Read the line of a report over several runs; `known` has the data checksums of the runs found."""
    try:
        runs = _object(directory / RUNS).get("runs")
        if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
            raise _DamagedError(f"{RUNS} is not what `rogue report` writes")
    except _DamagedError as error:
        return Entry(directory, State.DAMAGED, _created(None, directory), "reports", problem=str(error))
    names = list(dict.fromkeys(shown(run.get("experiment", "")) for run in runs))
    size_bytes, whole = size_of(directory)
    return Entry(
        directory=directory,
        state=State.REPORT,
        created=_created(None, directory),
        experiment=shown(", ".join(names)),
        title=f"Report on {len(runs)} runs",
        done=sum(str(run.get("run_id")) in known for run in runs),
        total=len(runs),
        problem=_out_of_date(runs, known),
        size_bytes=size_bytes,
        is_size_whole=whole,
        report=_report(directory),
    )


def _out_of_date(runs: Sequence[Mapping[str, object]], known: Mapping[str, str]) -> str:
    """What became of its runs since, as a sentence."""
    gone = sum(str(run.get("run_id")) not in known for run in runs)
    told = {str(run.get("run_id")): run.get("data_sha256") for run in runs}
    changed = sum(known.get(name, digest) != digest for name, digest in told.items())
    parts = [
        f"{count} of its runs {what}"
        for count, what in ((gone, "not found here"), (changed, "changed since"))
        if count
    ]
    return "; ".join(parts)


def _object(path: Path) -> Mapping[str, object]:
    """A JSON object from a file of bounded size that is no link."""
    if not is_regular(path):
        raise _DamagedError(f"{path.name} is missing")
    try:
        if path.stat().st_size > TEXT_BYTES_MAX:
            raise _DamagedError(f"{path.name} is larger than any that `rogue` writes")
        content = parse_json(path.read_bytes())
    except OSError as error:
        raise _DamagedError(f"{path.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise _DamagedError(f"{path.name} is not valid JSON") from error
    if not isinstance(content, dict):
        raise _DamagedError(f"{path.name} is not what `rogue` writes")
    return content


def _judged(path: Path) -> list[dict[str, object]]:
    """The outcomes with a verdict, from claims.json as any version wrote it."""
    try:
        if not is_regular(path) or path.stat().st_size > TEXT_BYTES_MAX:
            return []
        content = parse_json(path.read_bytes())
    except (OSError, ValueError):
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


def _created(told: object, directory: Path) -> str:
    """When it began: as it says itself, else as its name says."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z", told) if isinstance(told, str) else None
    if match:
        return f"{match[1]} {match[2]}"
    named = _RUN_NAME.fullmatch(directory.name)
    return "{}-{}-{} {}:{}:{}".format(*named.groups()) if named else ""


def _name(directory: Path) -> str:
    return shown(directory.name)


def _report(directory: Path) -> Path | None:
    """Its report; that of a run which still goes stands beside it."""
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


def size_of(directory: Path) -> tuple[int, bool]:
    """Bytes in all files of a directory, links not followed, and whether they were all counted."""
    total, seen, waiting = 0, 0, [directory]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for each in found:
                    seen += 1
                    if each.is_dir(follow_symlinks=False):
                        waiting.append(Path(each.path))
                    else:
                        total += each.stat(follow_symlinks=False).st_size
                    if seen >= FILES_MAX:
                        return total, False
        except OSError:
            continue
    return total, True


DEPTH_MAX: Final = 2
"""results/<experiment>/<run>"""
DIRECTORIES_MAX: Final = 20_000


def find_entries(results: Path, is_locked: IsLocked, experiment: str | None = None) -> list[Entry]:
    """Return the runs and reports below a directory, newest first; those of one experiment if it is named."""
    runs, reports, tags = [], [], read_tags(results)
    for directory in _candidates(results):
        if is_regular(directory / RUNS) and not is_regular(directory / MANIFEST):
            reports.append(directory)
        else:
            runs.append(_tagged(read_entry(directory, is_locked), tags))
    known = {entry.run_id: entry.data_sha256 for entry in runs}
    entries = [*runs, *(read_combined(directory, known) for directory in reports)]
    if experiment is not None:
        entries = [entry for entry in entries if shown(experiment) in entry.experiment.split(", ")]
    return sorted(entries, key=lambda entry: (entry.created, str(entry.directory)), reverse=True)


def _tagged(entry: Entry, tags: Tags) -> Entry:
    return replace(entry, tags=tags[entry.run_id]) if entry.run_id in tags else entry


def _candidates(results: Path) -> Iterator[Path]:
    """Directories that look like a run or a report over several."""
    looked_at, level = 0, [results]
    for depth in range(DEPTH_MAX + 1):
        below: list[Path] = []
        for directory in level:
            looked_at += 1
            if looked_at > DIRECTORIES_MAX:
                return
            if _looks_like_one(directory):
                yield directory
            elif depth < DEPTH_MAX:
                below += _directories(directory)
        level = below


def _looks_like_one(directory: Path) -> bool:
    return is_run_name(directory.name) or any(is_regular(directory / name) for name in (MANIFEST, RUNS))


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
