"""The caption of a figure, to be pasted into a paper: what it shows, the conditions, and the run."""

import unicodedata
from dataclasses import dataclass
from typing import Final

from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import counted, joined
from rogue.reports.results import Results

COMMIT_CHARACTERS: Final = 12
SEEDS_MAX: Final = 6
_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",
    "'": r"\textquoteright{}",
    "’": r"\textquoteright{}",
    "‘": r"\textquoteleft{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "µ": r"\ensuremath{\mu}",
    "μ": r"\ensuremath{\mu}",
    "×": r"\ensuremath{\times}",
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "→": r"\ensuremath{\to}",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "\u202f": r"\,",
    "\u00a0": "~",
}
_ACCENTS: Final = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0308": '"',
    "\u030a": "r",
    "\u030c": "v",
    "\u0327": "c",
}


@dataclass(frozen=True, slots=True)
class Caption:
    """One caption: as plain text, and as a LaTeX command."""

    plain: str

    @property
    def latex(self) -> str:
        r"""Return `\caption{...}` for any LaTeX engine, without packages."""
        return f"\\caption{{{latex_text(self.plain)}}}"


def caption_of(figure: ReportFigure, results: Results) -> Caption:
    """Return what a figure shows, the conditions, how many runs, their seeds, the commit and the run."""
    shows = figure.caption + figure.omission(results)
    sentences = [f"{figure.title}.", shows, _conditions(results), _runs(results, figure), _origin(results)]
    return Caption(" ".join(" ".join(sentences).split()))


def latex_text(text: str) -> str:
    """Return text that LaTeX prints as it is; a character that it has no sign for becomes its nearest one."""
    return "".join(_LATEX.get(character) or _latin(character) for character in text)


def _latin(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " "
    parts = unicodedata.normalize("NFKD", character).replace("\N{FRACTION SLASH}", "/")
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return f"\\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    nearest = parts.encode("ascii", "ignore").decode()
    return latex_text(nearest) if nearest else "?"


def _conditions(results: Results) -> str:
    """Say what was run, where, and what was changed on the command line."""
    manifest = results.run.manifest
    topology = manifest.experiment.get("topology")
    kind = topology.get("kind") if isinstance(topology, dict) else None
    network = f", network {kind}" if kind else ""
    changed = f"; changed: {', '.join(manifest.source.set)}" if manifest.source.set else ""
    what = f"{manifest.title.rstrip('.')} ({manifest.name}{network})"
    return f"Experiment: {what}, testbed {manifest.testbed}{changed}."


def _runs(results: Results, figure: ReportFigure) -> str:
    """Say how many repetitions stand behind what is drawn, and their seeds."""
    views = [results.views_of(setting) for setting in figure.shown(results)]
    counts = sorted({len(each) for each in views})
    runs = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    seeds = sorted({view.entry.seed for each in views for view in each if view.entry.seed is not None})
    if not seeds:
        said = "seeds not recorded"
    elif len(seeds) > 1 and seeds[-1] - seeds[0] + 1 == len(seeds):
        said = f"seeds {seeds[0]} to {seeds[-1]}"
    else:
        more = [counted(len(seeds) - SEEDS_MAX, "other")] if len(seeds) > SEEDS_MAX else []
        said = f"seed{'s' if len(seeds) > 1 else ''} {joined([*map(str, seeds[:SEEDS_MAX]), *more])}"
    return f"Runs per setting: {runs}; {said}."


def _origin(results: Results) -> str:
    manifest = results.run.manifest
    commit = (manifest.git.commit or "not recorded")[:COMMIT_CHARACTERS]
    dirty = " with uncommitted changes" if manifest.git.dirty else ""
    return f"Commit {commit}{dirty}, run {manifest.run_id}."
