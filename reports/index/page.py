"""The page `index.html`: every run of a results directory, newest first, by experiment."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from rogue.reports.errors import ReportError
from rogue.reports.index.run_entries import Entry, State, is_regular, shown
from rogue.reports.quantities import counted, size_text
from rogue.reports.reading.files import write_whole
from rogue.reports.templates.environment import environment, script, script_source, style

INDEX: Final = "index.html"
GENERATOR: Final = "RoGUE testbed, index of runs"
"""Marks a page that may be overwritten."""
_HEAD_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one experiment, newest first."""

    anchor: str
    name: str
    title: str
    entries: list[Entry]


def write_index(results: Path, entries: Sequence[Entry]) -> Path:
    """Write `index.html` into a results directory; ReportError if there is a page of another origin."""
    path = results / INDEX
    if path.is_symlink() or (path.exists() and not _is_ours(path)):
        raise ReportError(
            f"{path}: this page is not one that rogue wrote; move it away to have the list of runs."
        )
    write_whole(path, index_page(results, entries))
    return path


def index_page(results: Path, entries: Sequence[Entry]) -> str:
    """Return the page."""
    runs = [entry for entry in entries if entry.state is not State.REPORT]
    reports = [entry for entry in entries if entry.state is State.REPORT]
    size_bytes = sum(entry.size_bytes for entry in entries)
    pages = environment()
    pages.globals.update(shown=shown, size_text=size_text, href=partial(_href, results=results))
    return pages.get_template("index.html.j2").render(
        title="Runs",
        generator=GENERATOR,
        groups=_groups(runs),
        reports=reports,
        script=script(),
        script_source=script_source(),
        total=f"{counted(len(runs), 'run')}, {size_text(size_bytes)}",
        transports=[],
        states=[(state.value, sum(run.state is state for run in runs)) for state in State],
        style=style(),
    )  # fmt: skip


def _groups(runs: Sequence[Entry]) -> list[Group]:
    names = list(dict.fromkeys(run.experiment for run in runs))
    groups: list[Group] = []
    for name in names:
        own = [run for run in runs if run.experiment == name]
        titles = [run.title for run in own if run.title]
        anchor = _anchor(name, {group.anchor for group in groups})
        groups.append(Group(anchor, name, titles[0] if titles else name, own))
    return groups


def _anchor(name: str, taken: set[str]) -> str:
    """Return an id made of a name; a second name with the same id gets a number."""
    first = "runs-" + (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed")
    anchor, number = first, 1
    while anchor in taken:
        number += 1
        anchor = f"{first}-{number}"
    return anchor


def _href(path: Path, results: Path) -> str:
    """Return a link that a browser reads as a path, whatever characters it has."""
    relative = path.relative_to(results) if path.is_relative_to(results) else path
    return "./" + quote(str(relative).encode("utf-8", "surrogateescape"))


def _is_ours(path: Path) -> bool:
    if not is_regular(path):
        return False
    with path.open("rb") as file:
        return GENERATOR.encode() in file.read(_HEAD_BYTES)
