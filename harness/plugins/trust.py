"""Load plug-ins that a run keeps, which are code and need the user's permission."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rogue.harness.errors import ConfigError, UsageError
from rogue.harness.plugins.loading import LoadedPlugin, load_plugins
from rogue.harness.plugins.source import PluginSource, installed_plugins, read_plugin, source_of
from rogue.workloads.manifest import PluginRecord


@dataclass(frozen=True, slots=True)
class Trust:
    """Permission to run plug-ins of a run: the named files, or all that the run keeps."""

    files: tuple[Path, ...] = ()
    is_whole: bool = False

    def named(self) -> list[PluginSource]:
        """Read the files."""
        return [read_plugin(str(file), f"--plugin {file}") for file in self.files]


NO_TRUST = Trust()
SHOWN_KINDS: Final = ("measure", "figure")
"""Kinds of entries that reports show."""


def load_trusted(records: Sequence[PluginRecord], trust: Trust) -> tuple[LoadedPlugin, ...]:
    """Load all plug-ins of a run from the texts in its manifest; UsageError if one is not permitted."""
    named, kept = trust.named(), [source_of(record) for record in records]
    strangers = [source.file for source in named if source.identity not in {each.identity for each in kept}]
    if strangers:
        got = f"--plugin {strangers[0]}: got a text that the run was not made with"
        raise UsageError(f"{got}, expected the same; --trust-plugins takes what the run keeps.")
    missing = _untrusted(records, [*named, *installed_plugins()] if kept else [], trust)
    if missing:
        raise UsageError(*map(_refusal, missing))
    return load_plugins(kept)


def load_what_is_trusted(records: Sequence[PluginRecord], trust: Trust) -> list[PluginRecord]:
    """Load named and installed plug-ins, and those that runs keep if permitted; return the others.

    UsageError if runs keep two versions of a plug-in, because one name means one thing in a report.
    """
    known = [*installed_plugins(), *trust.named()]
    taken = {name for plugin in load_plugins(known) for name in plugin.adds}
    for record in _untrusted(records, known, NO_TRUST) if trust.is_whole else ():
        source = source_of(record)
        if source.identity not in {each.identity for each in known}:
            if again := sorted(taken & set(record.adds)):
                got = f"plug-in {record.file} of a run: got another version of {again[0]}"
                advice = "name the one to use with --plugin, without --trust-plugins"
                raise UsageError(f"{got}, expected one for the whole report; {advice}.")
            known.append(source)
            taken |= set(record.adds)
    load_plugins(known)
    return _untrusted(records, known, trust)


def left_out(records: Sequence[PluginRecord]) -> list[str]:
    """Return a sentence for each plug-in whose measures or figures are left out."""
    shown = {
        record.file: [each for each in record.adds if each.split()[0] in SHOWN_KINDS] for record in records
    }
    return [
        f"left out, for the plug-in {file} is code that was not named: {', '.join(names)}"
        for file, names in shown.items()
        if names
    ]


def changed_plugins(records: Sequence[PluginRecord]) -> list[str]:
    """Return the files whose text differs from the one that a run keeps, without missing files."""
    changed = []
    for record in records:
        try:
            source = read_plugin(record.file, "")
        except ConfigError:
            continue
        if source.text != record.text:
            changed.append(record.file)
    return changed


def _untrusted(
    records: Sequence[PluginRecord], known: Sequence[PluginSource], trust: Trust
) -> list[PluginRecord]:
    trusted = {source.identity for source in known}
    return [] if trust.is_whole else [each for each in records if source_of(each).identity not in trusted]


def _refusal(record: PluginRecord) -> str:
    got = f"plug-in {record.file} ({', '.join(record.adds)}; SHA-256 {record.sha256[:12]}) of the run"
    expected = "permission to run this code, which can do whatever you can"
    advice = "add --plugin with the same file, or, if you have read it in manifest.json, --trust-plugins"
    return f"{got}: expected {expected}; {advice}."
