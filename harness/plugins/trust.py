"""Plug-ins of an existing run: code, perhaps of another author, that runs only if it is named."""

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
    """What a person has said about the plug-ins of a run: which files to run, or all that the run keeps."""

    files: tuple[Path, ...] = ()
    is_whole: bool = False

    def named(self) -> list[PluginSource]:
        """The files."""
        return [read_plugin(str(file), f"--plugin {file}") for file in self.files]


NOBODY = Trust()
SHOWN_KINDS: Final = ("measure", "figure")
"""What a plug-in adds to reports."""


def load_trusted(records: Sequence[PluginRecord], trust: Trust) -> tuple[LoadedPlugin, ...]:
    """Load every plug-in of a run, with the texts of its manifest; UsageError if one is not trusted."""
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
    """Load what is named and what is installed, and what runs keep if it is trusted; return what is not.

    UsageError if runs keep two versions of a plug-in: one name means one thing in a report.
    """
    known = [*installed_plugins(), *trust.named()]
    taken = {name for plugin in load_plugins(known) for name in plugin.adds}
    for record in _untrusted(records, known, NOBODY) if trust.is_whole else ():
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
    """Say what of plug-ins is not shown. Reports and figures do without what else plug-ins add."""
    shown = {
        record.file: [each for each in record.adds if each.split()[0] in SHOWN_KINDS] for record in records
    }
    return [
        f"left out, for the plug-in {file} is code that was not named: {', '.join(names)}"
        for file, names in shown.items()
        if names
    ]


def changed_plugins(records: Sequence[PluginRecord]) -> list[str]:
    """The files whose text differs from the one that a run keeps; a missing file does not count."""
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
    """The plug-ins that the user has not allowed to run."""
    trusted = {source.identity for source in known}
    return [] if trust.is_whole else [each for each in records if source_of(each).identity not in trusted]


def _refusal(record: PluginRecord) -> str:
    got = f"plug-in {record.file} ({', '.join(record.adds)}; SHA-256 {record.sha256[:12]}) of the run"
    expected = "a person's word that this code may run: it can do whatever you can"
    advice = "add --plugin with the same file, or, if you have read it in manifest.json, --trust-plugins"
    return f"{got}: expected {expected}; {advice}."
