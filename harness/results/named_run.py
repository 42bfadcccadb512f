"""Find the directory of a run by its path, its id, its experiment, or as the latest.

Only names are read, so that a shell completes them without delay.
"""

import re
from os import PathLike, fspath
from pathlib import Path
from typing import Final

from rogue.harness.errors import UsageError
from rogue.workloads.printable import did_you_mean

DEFAULT_OUT: Final = Path("results")
"""Default directory of runs."""
LATEST: Final = "latest"
_RUN_ID: Final = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_CANDIDATES_MAX: Final = 5


def find_run(named: str | PathLike[str]) -> Path:
    """Return a run's directory; UsageError lists candidates if the name is unknown or ambiguous.

    A path that exists, or has a slash, is the directory. Any other name is, in `results`: `latest`, an
    experiment, of which the newest run counts, or the first characters of an id.
    """
    path, name = Path(named), fspath(named)
    if "/" in name or path.exists() or path.is_symlink():
        return path
    runs = runs_below(DEFAULT_OUT)
    if newest := [run for run in runs if name in (LATEST, run.parent.name)]:
        return newest[0]
    found = [run for run in runs if run.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        problem = f"{name}: got the beginning of {len(found)} ids, expected one; write more of it; they are:"
    else:
        expected = f"expected the directory of a run, its id, its experiment or {LATEST}"
        advice = did_you_mean(name, {run.parent.name for run in runs}, "`rogue list runs` lists them")
        the_newest = "; the newest are:" if runs else "."
        problem = f"{name}: got no run of that name, {expected}; {advice}{the_newest}"
    raise UsageError(problem, *[f"  {run}" for run in (found or runs)[:_CANDIDATES_MAX]])


def runs_below(results: Path) -> list[Path]:
    """Return the runs in a directory of results, newest first."""
    found = [file.parent for file in results.glob("*/*/manifest.json")]
    return sorted(
        (run for run in found if _RUN_ID.fullmatch(run.name)), key=lambda run: run.name, reverse=True
    )
