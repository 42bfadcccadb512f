"""What git says of the commits since a run."""

import re
from collections.abc import Iterator
from typing import Final

from rogue.harness.results.provenance import git_facts, git_output
from rogue.workloads.history import Change
from rogue.workloads.shipped import CHECKOUT

_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_MARK: Final = "\x01"


def changes_since(commit: str | None) -> list[Change] | None:
    """Return the commits after one, the newest first; None where the checkout has not got it.

    A file that was only moved was not changed.
    """
    if commit is None or not _COMMIT.fullmatch(commit) or git_facts().commit is None:
        return None
    if git_output(CHECKOUT, "merge-base", "--is-ancestor", commit, "HEAD") is None:
        return None
    words = ("-c", "core.quotePath=false", "log", "--name-status", "--find-renames", f"--format={_MARK}%H %s")
    told = git_output(CHECKOUT, *words, f"{commit}..HEAD")
    return None if told is None else list(_changes(told))


def _changes(told: str) -> Iterator[Change]:
    for block in told.split(_MARK)[1:]:
        head, *lines = block.splitlines()
        commit, _, subject = head.partition(" ")
        paths = tuple(path for line in lines for path in _paths(line))
        yield Change(commit, subject, paths)


def _paths(line: str) -> list[str]:
    status, *paths = line.split("\t")
    return [] if status == "R100" else paths
