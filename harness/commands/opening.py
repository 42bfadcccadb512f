"""What every command asks of the runs that it reads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rogue.harness.commands.damage import refuse_damage
from rogue.harness.plugins.trust import NOBODY, Trust, load_what_is_trusted
from rogue.harness.results.manifest import read_manifest
from rogue.harness.telling import tell
from rogue.workloads.manifest import Manifest, PluginRecord

SHOWN_KINDS: Final = ("measure", "figure")
"""What a plug-in adds to reports."""


def opened(runs: Sequence[Path], trust: Trust = NOBODY, *, accepts_damage: bool = False) -> list[Manifest]:
    """Return the manifests of runs that may be read; ExitError if one is not as it was written.

    Plug-ins that somebody named are loaded. What the others would have shown is told.
    """
    manifests = [read_manifest(run) for run in runs]
    refuse_damage(runs, is_accepted=accepts_damage)
    _tell_untrusted(load_what_is_trusted([each for one in manifests for each in one.plugins], trust))
    return manifests


def _tell_untrusted(records: Sequence[PluginRecord]) -> None:
    """Say what of plug-ins is not shown. Reports and figures do without what else plug-ins add."""
    for record in records:
        shown = [each for each in record.adds if each.split()[0] in SHOWN_KINDS]
        if shown:
            text = f"left out, for the plug-in {record.file} is code that was not named: {', '.join(shown)}"
            advice = "add --plugin with the same file, or --trust-plugins"
            tell(f"{text}; {advice}.")
