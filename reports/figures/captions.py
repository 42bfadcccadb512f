"""Captions of figures."""

from typing import Final

from rogue.reports.figures.figure import ReportFigure
from rogue.reports.quantities import seeds_text
from rogue.reports.results import Results

COMMIT_CHARACTERS: Final = 12


def caption_of(figure: ReportFigure, results: Results) -> str:
    """Return the caption of a figure: content, conditions, number of runs, seeds, commit and run."""
    shows = figure.caption + figure.omission(results)
    sentences = [f"{figure.title}.", shows, _conditions(results), _runs(results, figure), _origin(results)]
    return " ".join(" ".join(sentences).split())


def _conditions(results: Results) -> str:
    manifest = results.run.manifest
    topology = manifest.experiment.get("topology")
    kind = topology.get("kind") if isinstance(topology, dict) else None
    network = f", network {kind}" if kind else ""
    changed = f"; changed: {', '.join(manifest.source.set)}" if manifest.source.set else ""
    what = f"{manifest.title.rstrip('.')} ({manifest.name}{network})"
    return f"Experiment: {what}, testbed {manifest.testbed}{changed}."


def _runs(results: Results, figure: ReportFigure) -> str:
    views = [results.views_of(setting) for setting in figure.shown(results)]
    counts = sorted({len(each) for each in views})
    runs = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    seeds = seeds_text(view.entry.seed for each in views for view in each)
    return f"Runs per setting: {runs}; {seeds}."


def _origin(results: Results) -> str:
    manifest = results.run.manifest
    commit = (manifest.git.commit or "not recorded")[:COMMIT_CHARACTERS]
    dirty = " with uncommitted changes" if manifest.git.dirty else ""
    return f"Commit {commit}{dirty}, run {manifest.run_id}."
