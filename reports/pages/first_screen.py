"""The top of a report: verdict chips, provenance facts, failed cells and cells that were not run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rogue.reports.claims import Outcome, counted_verdict
from rogue.reports.claims.conditions import PAPER_SCALE
from rogue.reports.claims.verdict import counts_of
from rogue.reports.claims.words import is_headline
from rogue.reports.pages.provenance import Facts
from rogue.reports.quantities import counted, joined, seeds_text
from rogue.reports.results import Results
from rogue.workloads.manifest import CellRecord, Manifest
from rogue.workloads.records import CellStatus

# More sentences are only under Status.
SENTENCES_MAX = 3
REASON_LENGTH_MAX = 160
COMMIT_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Chip:
    """The number of verdicts of one kind; `kind` is the CSS class."""

    text: str
    kind: str


def verdict_chips(judged: Sequence[Outcome]) -> list[Chip]:
    """Return one chip per verdict in the headline, the best first, and one for all with badges."""
    counts = counts_of(outcome.verdict for outcome in judged if is_headline(outcome.claim))
    found = [Chip(counted_verdict(count, verdict), verdict.css_class) for verdict, count in counts.items()]
    badged = len(judged) - sum(counts.values())
    return [*found, Chip(f"{badged} with badges", "badged")] if badged else found


def _testbed(results: Results) -> str:
    clocks = {
        str(view.entry.facts["clock"]) for view in results.views.values() if "clock" in view.entry.facts
    }
    return "; ".join([results.run.manifest.testbed, *(f"clock {clock}" for clock in sorted(clocks))])


def provenance_facts(results: Results) -> Facts:
    """Return the origin of the numbers: repetitions, seeds, finished cells, changes, code, place and time."""
    manifest = results.run.manifest
    facts = [
        ("Runs", _runs(results)),
        ("Cells", f"{len(results.views)} of {len(manifest.cells)} finished"),
        ("Commit", _commit(manifest)),
        ("Testbed", _testbed(results)),
        ("Started", _minute(manifest.created_utc)),
        ("Run", manifest.run_id),
    ]
    scale = manifest.experiment.get("scale")
    if scale not in (None, PAPER_SCALE):
        facts.insert(2, ("Scale", str(scale)))
    if manifest.source.set:
        facts.insert(2, ("Changed by --set", ", ".join(manifest.source.set)))
    return facts


def failures(results: Results) -> list[str]:
    """Return a sentence per transport with failed cells: their number and the first reason."""
    sentences = [
        _failure(name, failed, entries)
        for name, entries in _by_transport(results)
        if (failed := [entry for entry in entries if entry.status is CellStatus.FAILED])
    ]
    if len(sentences) <= SENTENCES_MAX + 1:
        return sentences
    rest = counted(len(sentences) - SENTENCES_MAX, "more transport")
    return [*sentences[:SENTENCES_MAX], f"Cells of {rest} failed."]


def _failure(name: str, failed: list[CellRecord], entries: list[CellRecord]) -> str:
    kinds = joined(list(dict.fromkeys(entry.failure_kind for entry in failed if entry.failure_kind)))
    where = "everywhere" if len(failed) == len(entries) > 1 else ""
    how_many = f"in {_share(failed, entries)}" if not where else f"{where}, in all {len(entries)} cells"
    reason = _short(failed[0].message or "no reason recorded")
    return f"{name} failed {how_many}{f' ({kinds})' if kinds else ''}: {reason}."


def not_run(results: Results) -> str | None:
    """Return the cells that were not run, in one line: unsupported ones with reasons, and pending ones."""
    groups: dict[str, list[str]] = {}
    for name, entries in _by_transport(results):
        refused = [entry for entry in entries if entry.status is CellStatus.UNSUPPORTED]
        if refused:
            who = name if len(refused) == len(entries) else f"{name} in {_share(refused, entries)}"
            groups.setdefault(_short(refused[0].message or "no reason recorded"), []).append(who)
    parts = [f"{joined(names)} ({reason})" for reason, names in groups.items()]
    if len(parts) > SENTENCES_MAX:
        parts = [*parts[:SENTENCES_MAX], f"{len(parts) - SENTENCES_MAX} more for other reasons"]
    pending = sum(cell.status is CellStatus.PENDING for cell in results.run.manifest.cells)
    if pending:
        parts.append(f"{counted(pending, 'cell')} still pending")
    return f"Not run: {joined(parts)}." if parts else None


def _by_transport(results: Results) -> list[tuple[str, list[CellRecord]]]:
    """Return the name of each transport with its cells, in the experiment's order."""
    groups: dict[str, tuple[str, list[CellRecord]]] = {}
    for setting in results.settings:
        groups.setdefault(setting.transport, (setting.style.name, []))[1].extend(setting.entries)
    return list(groups.values())


def _share(some: list[CellRecord], entries: list[CellRecord]) -> str:
    return f"{len(some)} of {counted(len(entries), 'cell')}"


def _short(reason: str) -> str:
    """Return the first line of a message, shortened for the first screen."""
    line = reason.strip().split("\n", 1)[0].rstrip(".")
    return line if len(line) <= REASON_LENGTH_MAX else f"{line[: REASON_LENGTH_MAX - 1].rstrip()}…"


def _runs(results: Results) -> str:
    counts = [len(results.views_of(setting)) for setting in results.measured_settings]
    if not counts:
        return "none finished"
    low, high = min(counts), max(counts)
    number = f"{high}" if low == high else f"{low} to {high}"
    return f"{number} of each setting, {seeds_text(view.entry.seed for view in results.views.values())}"


def _commit(manifest: Manifest) -> str:
    """Write the commit; several if the run was resumed with other code."""
    codes = [manifest.git, *(session.git for session in manifest.sessions)]
    commits = list(dict.fromkeys(git.commit for git in codes if git.commit))
    if not commits:
        return "not recorded"
    text = commits[0][:COMMIT_DIGITS]
    if len(commits) > 1:
        text += f" and {counted(len(commits) - 1, 'other')}"
    return f"{text}, with uncommitted changes" if any(git.dirty for git in codes) else text


def _minute(utc: str) -> str:
    """Write an instant to the minute; other text stays as it is."""
    try:
        return f"{datetime.fromisoformat(utc):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return utc
