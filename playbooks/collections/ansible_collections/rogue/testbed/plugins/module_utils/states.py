"""Establishes what a role wants, and puts back what was there before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .distribution import of_this_system, refusal
from .kinds import KINDS
from .kinds.kind import Kind
from .ledger import Entry, Ledger
from .system import StateError, System

Wanted = dict[str, dict[str, Any]]
"""Per kind: key -> value."""


@dataclass
class Changes:
    """What was changed, or would be."""

    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def note(self, kind: str, key: str, before: object, after: object) -> None:
        """Remember one change for the diff."""
        self.before[f"{kind} {key}"] = KINDS[kind].summary(before)
        self.after[f"{kind} {key}"] = KINDS[kind].summary(after)

    def __bool__(self) -> bool:
        return bool(self.before)


def establish(system: System, ledger: Ledger, owner: str, wanted: Wanted, check: bool) -> Changes:
    """Make the node what the role wants; what the role wanted once and does not want now is undone first."""
    changes = Changes()
    if unknown := refusal(system):
        raise StateError(unknown)
    lists = {key: of_this_system(system, value) for key, value in wanted.get("packages", {}).items()}
    wanted = {**wanted, "packages": lists}
    mistakes = [
        KINDS[name].mistake(key, value) for name in KINDS for key, value in wanted.get(name, {}).items()
    ]
    if any(mistakes):
        raise StateError("; ".join(filter(None, mistakes)))
    for entry in reversed(list(ledger.entries)):
        if entry.owner == owner and entry.key not in wanted.get(entry.kind, {}):
            _undo(system, ledger, entry, changes, check)
    if changes.failures:
        raise StateError("; ".join(changes.failures))
    for name in KINDS:
        for key, value in wanted.get(name, {}).items():
            _establish_one(system, ledger, Entry(owner, name, key, value, None), changes, check)
    return changes


def _establish_one(system: System, ledger: Ledger, want: Entry, changes: Changes, check: bool) -> None:
    kind = KINDS[want.kind]
    known = ledger.find(want.kind, want.key)
    observed = _observe(kind, system, want, check)
    if kind.is_met(observed, want.wanted) or (known and _is_as_left(kind, known, want, observed)):
        if known and known.after is None and not check:
            _finish(system, ledger, known)
        return
    reason = kind.refusal(want.key, observed) if known is None else None
    if reason is not None:
        raise StateError(reason)
    changes.note(want.kind, kind.called(want.key, observed, want.wanted), observed, want.wanted)
    if check:
        return
    earlier = known and replace(known)
    entry = known or Entry(want.owner, want.kind, want.key, None, observed)
    if known:
        entry.before = kind.rebased(known.before, known.after, observed)
    entry.owner, entry.wanted, entry.after = want.owner, kind.summary(want.wanted), None
    ledger.write(entry)
    try:
        kind.establish(system, want.key, want.wanted)
    except (StateError, OSError):
        if _observe(kind, system, want, check=True) == observed:
            ledger.forget(entry, earlier)
        raise
    _finish(system, ledger, entry)


def _finish(system: System, ledger: Ledger, entry: Entry) -> None:
    """Write down that this is there, for teardown puts back nothing of packages of which nobody knows."""
    kind = KINDS[entry.kind]
    entry.after = kind.kept(kind.observe(system, entry.key))
    ledger.write(entry)


def _observe(kind: Kind, system: System, want: Entry, check: bool) -> object:
    """In check mode something may not be there yet only because nothing was changed so far."""
    try:
        return kind.observe(system, want.key)
    except StateError:
        if not check:
            raise
        return None


def _is_as_left(kind: Kind, known: Entry, want: Entry, observed: object) -> bool:
    """Never of what was not finished: of what is not there yet that looks the same."""
    if known.after is None:
        return False
    is_wanted = bool(known.wanted == kind.summary(want.wanted))
    return is_wanted and bool(kind.summary(known.after) == kind.summary(observed))


def restore(system: System, ledger: Ledger, check: bool) -> Changes:
    """Put back what was there before, newest change first; what cannot be put back stays written down."""
    changes = Changes()
    for entry in reversed(list(ledger.entries)):
        _undo(system, ledger, entry, changes, check)
    return changes


def _undo(system: System, ledger: Ledger, entry: Entry, changes: Changes, check: bool) -> None:
    changes.note(entry.kind, entry.key, entry.after, entry.before)
    if check:
        return
    try:
        KINDS[entry.kind].undo(system, entry.key, entry.before, entry.after)
    except (StateError, OSError) as error:
        changes.failures.append(f"{entry.kind} {entry.key}: {error}")
    else:
        ledger.remove(entry)


def drift(system: System, ledger: Ledger) -> list[str]:
    """What is no longer as provisioning left it, or was never finished."""
    changed = []
    for entry in ledger.entries:
        if entry.after is None:
            changed.append(f"{entry.kind} {entry.key} (never finished)")
            continue
        try:
            observed = KINDS[entry.kind].observe(system, entry.key)
        except StateError:
            observed = None
        if KINDS[entry.kind].has_drifted(observed, entry.after):
            changed.append(f"{entry.kind} {entry.key}")
    return changed
