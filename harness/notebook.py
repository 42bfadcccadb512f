"""A run in Python, with the plug-ins that its author names: `rogue.load`."""

import warnings
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from rogue.harness.plugins.trust import Trust, left_out, load_what_is_trusted
from rogue.harness.results.manifest import read_manifest

if TYPE_CHECKING:
    from rogue.reports.results.loaded import LoadedRun


def load(
    directory: str | PathLike[str],
    plugins: Iterable[str | PathLike[str]] = (),
    *,
    trusts_plugins: bool = False,
) -> "LoadedRun":
    """Open a run directory, such as `results/quickstart/<run id>`.

    `plugins` are files that add measures; `trusts_plugins` runs those that the run keeps, which can do
    whatever you can. What a plug-in of the run would have added and nobody named is left out, with a warning.
    An error is a sentence: `rogue.ReportError` if there is no run, `rogue.HarnessError` about a plug-in.
    """
    from rogue.reports.results.loaded import LoadedRun

    run = LoadedRun(directory)
    trust = Trust(tuple(map(Path, plugins)), trusts_plugins)
    untrusted = load_what_is_trusted(read_manifest(Path(directory)).plugins, trust)
    for text in left_out(untrusted):
        warnings.warn(f"{text}; name it: rogue.load(RUN, plugins=[FILE])", stacklevel=2)
    return run
