"""Find the directory of a run by its path, its id, its experiment, or as the latest.

Only names are read, so that a shell completes them without delay.
"""

import re
from os import PathLike
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

    A path that exists, or has a slash, is the directory. Any other text is, in `results`: `latest`, an
    experiment, of which the newest run counts, or the first characters of an id.
    """
    if _is_path(named):
        return Path(named)
    named, runs = str(named), runs_below(DEFAULT_OUT)
    if newest := [run for run in runs if named in (LATEST, run.parent.name)]:
        return newest[0]
    found = [run for run in runs if run.name.startswith(named)]
    if len(found) == 1:
        return found[0]
    if found:
        problem = f"{named}: got the beginning of {len(found)} ids, expected one; write more of it; they are:"
    else:
        expected = f"expected the directory of a run, its id, its experiment or {LATEST}"
        advice = did_you_mean(named, {run.parent.name for run in runs}, "`rogue list runs` lists them")
        the_newest = "; the newest are:" if runs else "."
        problem = f"{named}: got no run of that name, {expected}; {advice}{the_newest}"
    raise UsageError(problem, *[f"  {run}" for run in (found or runs)[:_CANDIDATES_MAX]])


def find_spelled_run(named: str | PathLike[str]) -> Path:
    """Return the run of a path or a full id, to delete it; UsageError lists the runs that a name means."""
    if _is_path(named):
        return Path(named)
    named, runs = str(named), runs_below(DEFAULT_OUT)
    if len(spelled := [run for run in runs if run.name == named]) == 1:
        return spelled[0]
    meant = runs[:1] if named == LATEST else [run for run in runs if named == run.parent.name]
    meant = spelled or meant or [run for run in runs if run.name.startswith(named)]
    matching = f"it matches {len(meant)} run{'' if len(meant) == 1 else 's'}, the newest first:"
    advice = matching if meant else "`rogue list runs` lists them."
    problem = f"{named}: got no path and no full id of one run, expected one of these two; {advice}"
    raise UsageError(problem, *[f"  {run}" for run in meant[:_CANDIDATES_MAX]])


def _is_path(named: str | PathLike[str]) -> bool:
    """True for a path that exists or has a slash."""
    path = Path(named)
    return not isinstance(named, str) or "/" in named or path.exists() or path.is_symlink()


def runs_below(results: Path) -> list[Path]:
    """Return the runs in a directory of results, newest first."""
    found = [file.parent for file in results.glob("*/*/manifest.json")]
    return sorted(
        (run for run in found if _RUN_ID.fullmatch(run.name)), key=lambda run: run.name, reverse=True
    )
