"""Captions of figures, and which figure shows a metric."""

from dataclasses import dataclass
from typing import Final

from rogue.reports.figures.figure import ReportFigure
from rogue.reports.latex import latex_text
from rogue.reports.quantities import counted, joined
from rogue.reports.results import Results
from rogue.reports.results.headlines import headlines_of

COMMIT_CHARACTERS: Final = 12
SEEDS_MAX: Final = 6


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


SHOWN_BY_NAME: Final[dict[str, tuple[str, ...]]] = {
    "recovery": ("failed_queue_pair",),
    "completion_times": (
        "fct_", "long_fct_", "short_fct_", "slowdown_", "unfinished_share", "transfer_rate_",
    ),
    "size_slowdowns": ("slowdown_",),
    "flow_shares": (
        "jain", "worst_flow_", "flow_p50_", "flow_mean_", "least_flow_", "most_flow_", "median_flow_",
    ),
    "throughput": (
        "aggregate_", "interval_goodput_", "jain", "flow_", "first_completion_", "first_level_",
        "fullest_level_", "last_level_", "level_", "worst_flow_", "least_flow_", "median_flow_", "most_flow_",
        "silent_flows",
    ),
    "probe_latency": ("probe_",),
    "queue_over_time": ("queue_",),
    "rtt_estimate": ("rtt_",),
    "rate_estimate": ("window_rate_",),
}  # fmt: skip
"""Beginnings of the names of metrics that can be read off a figure."""


def figures_showing(metric: str, results: Results) -> list[str]:
    """Return the names of figures from which a metric can be read, the one that shows it best first."""
    headlines = headlines_of(results.run.manifest)
    summed = {"factor_sweep": headlines.swept, "bars": headlines.bars}
    own = [figure for figure, names in summed.items() if metric in names]
    return own + [figure for figure, begins in SHOWN_BY_NAME.items() if metric.startswith(begins)]
