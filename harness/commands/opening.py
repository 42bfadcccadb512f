"""What every command asks of the runs that it reads."""

from collections.abc import Sequence
from pathlib import Path

from rogue.harness.commands.damage import refuse_damage
from rogue.harness.plugins.trust import NOBODY, Trust, left_out, load_what_is_trusted
from rogue.harness.results.manifest import read_manifest
from rogue.harness.telling import tell
from rogue.workloads.manifest import Manifest


def opened(runs: Sequence[Path], trust: Trust = NOBODY, *, accepts_damage: bool = False) -> list[Manifest]:
    """Return the manifests of runs that may be read; ExitError if one is not as it was written.

    Plug-ins that somebody named are loaded. What the others would have shown is told.
    """
    manifests = [read_manifest(run) for run in runs]
    refuse_damage(runs, is_accepted=accepts_damage)
    for text in left_out(load_what_is_trusted([each for one in manifests for each in one.plugins], trust)):
        tell(f"{text}; add --plugin with the same file, or --trust-plugins.")
    return manifests
