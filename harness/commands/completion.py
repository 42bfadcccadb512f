"""The names that a shell completes, found without importing what would run."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from rogue.workloads.shipped import shipped

EXPERIMENTS: Final = shipped("experiments")
RESULTS: Final = Path("results")
MANIFEST: Final = "manifest.json"
OFFERED_MAX: Final = 30
"""Of runs the newest only."""
_PLAIN: Final = re.compile(r"(?!-)[\w@%+=:,./-]+")
"""What every shell takes as it stands. Shells put a name into the line unquoted, and zsh evaluates it when
somebody presses Tab: another name, of somebody's file, could be a command."""
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
"""These two lists are copies, for the modules that have them take long to import; a test compares them."""


def experiments(incomplete: str) -> list[str]:
    """Names of the experiments that come with this checkout, then files and directories."""
    names = [file.relative_to(EXPERIMENTS).with_suffix("").as_posix() for file in EXPERIMENTS.rglob("*.yaml")]
    return _beginning(incomplete, sorted(names)) or _files(incomplete)


def spaces(incomplete: str) -> list[str]:
    """Names of the spaces that come with this checkout, then files and directories."""
    names = [file.relative_to(EXPERIMENTS).as_posix() for file in EXPERIMENTS.glob("found/spaces/*.yml")]
    return _beginning(incomplete, sorted(names)) or _files(incomplete)


def runs(incomplete: str) -> list[str]:
    """Directories of runs, the newest first; others where something else was begun."""
    found = sorted(RESULTS.glob(f"*/*/{MANIFEST}"), key=lambda path: path.parent.name, reverse=True)
    names = _beginning(incomplete, (path.parent.as_posix() for path in found))
    return names[:OFFERED_MAX] or _files(incomplete)


def testbeds(incomplete: str) -> list[str]:
    """The simulator, a kernel, the virtual testbed, or the file of an inventory."""
    from rogue.harness.testbeds import known_testbeds

    return _beginning(incomplete, known_testbeds()) or _files(incomplete)


def lists(incomplete: str) -> list[str]:
    """What `rogue list` can list."""
    return _beginning(incomplete, LISTS)


def figures(incomplete: str) -> list[str]:
    """Names of the report's figures."""
    return _beginning(incomplete, FIGURES)


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete) and _PLAIN.fullmatch(word)]


def _files(incomplete: str) -> list[str]:
    """Files and directories; those of a directory that cannot be read are none."""
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
