"""Complete names for a shell, without importing what would run."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from rogue.harness.results.named_run import DEFAULT_OUT, LATEST, runs_below
from rogue.workloads.shipped import shipped

EXPERIMENTS: Final = shipped("experiments")
OFFERED_MAX: Final = 30
"""Runs and files that are offered; of runs the newest."""
_PLAIN: Final = re.compile(r"(?!-)[\w@%+=:,./-]+")
"""Names without characters that a shell interprets. Shells put a name into the line unquoted, and zsh even
evaluates it at Tab, so that the name of a file could run a command."""
LISTS: Final = (
    "transports", "controls", "switch-controls", "receiver-controls", "estimators", "workloads", "sizes",
    "topologies", "faults", "probes", "experiments", "spaces", "measures", "formats", "figures", "runs",
)  # fmt: skip
FIGURES: Final = (
    "published_beside", "factor_sweep", "two_factors", "bars", "throughput", "critical_path", "recovery",
    "completion_times", "group_slowdowns", "size_slowdowns", "flow_shares", "flow_spread",
    "probe_latency", "queue_over_time", "queue_distribution", "queue_map", "link_use", "cpu_load",
    "rtt_estimate", "rate_estimate", "window", "control",
)  # fmt: skip
"""Both lists are copies, because their modules take long to import; a test compares them."""


def experiments(incomplete: str) -> list[str]:
    """Return names of shipped experiments, else files and directories."""
    names = [file.relative_to(EXPERIMENTS).with_suffix("").as_posix() for file in EXPERIMENTS.rglob("*.yaml")]
    return _beginning(incomplete, sorted(names)) or _files(incomplete)


def spaces(incomplete: str) -> list[str]:
    """Return names of shipped spaces, else files and directories."""
    names = [file.relative_to(EXPERIMENTS).as_posix() for file in EXPERIMENTS.glob("found/spaces/*.yml")]
    return _beginning(incomplete, sorted(names)) or _files(incomplete)


def runs(incomplete: str) -> list[str]:
    """Return directories, ids and experiments of runs, the newest first, else files and directories."""
    found = runs_below(DEFAULT_OUT)
    words = [*{run.parent.name: None for run in found}, *([LATEST] if found else [])]
    return _offered_runs(incomplete, found, words)


def spelled_runs(incomplete: str) -> list[str]:
    """Return directories and ids of runs, the newest first, else files and directories."""
    return _offered_runs(incomplete, runs_below(DEFAULT_OUT))


def _offered_runs(incomplete: str, found: Sequence[Path], more: Iterable[str] = ()) -> list[str]:
    words = [*(run.as_posix() for run in found), *(run.name for run in found), *more]
    return _beginning(incomplete, words)[:OFFERED_MAX] or _files(incomplete)


def testbeds(incomplete: str) -> list[str]:
    """Return names of testbeds, else files, one of which may be an inventory."""
    from rogue.harness.testbeds import known_testbeds

    return _beginning(incomplete, known_testbeds()) or _files(incomplete)


def lists(incomplete: str) -> list[str]:
    """Return the lists of `rogue list`."""
    return _beginning(incomplete, LISTS)


def figures(incomplete: str) -> list[str]:
    """Return the names of the report's figures."""
    return _beginning(incomplete, FIGURES)


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete) and _PLAIN.fullmatch(word)]


def _files(incomplete: str) -> list[str]:
    """Return files and directories; nothing from a directory that cannot be read."""
    parent, _, begun = incomplete.rpartition("/")
    directory = Path(f"{parent}/" if incomplete.startswith("/") else parent or ".")
    try:
        return sorted(_entries(directory, parent, begun, has_parent="/" in incomplete))[:OFFERED_MAX]
    except OSError:
        return []


def _entries(directory: Path, parent: str, begun: str, *, has_parent: bool) -> Iterator[str]:
    for entry in directory.iterdir():
        name = f"{parent}/{entry.name}" if has_parent else entry.name
        is_meant = entry.name.startswith(begun) and (begun or not entry.name.startswith("."))
        if is_meant and _PLAIN.fullmatch(name):
            yield f"{name}/" if entry.is_dir() else name
