"""Build the report of one run or several, and the comparison of two."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rogue.reports.claims import hold_against, read_claims
from rogue.reports.claims.verdict import claims_text, verdict_summary
from rogue.reports.errors import ReportError
from rogue.reports.pages.answer import Answered
from rogue.reports.pages.first_screen import not_run
from rogue.reports.pages.page import (
    FigureSection,
    figure_sections,
    render,
    run_section,
)
from rogue.reports.pages.side_by_side import side_by_side
from rogue.reports.reading.files import CLAIMS, REPORT, write_whole
from rogue.reports.reading.load import Run
from rogue.reports.results import Counted, Results, in_silence
from rogue.reports.run_index import RUNS, combined_directory, make_combined_directory, runs_text
from rogue.workloads.manifest import Manifest

_LOGGER = logging.getLogger(__name__)


def build(  # noqa: PLR0913 - what a report is made of, and where it goes
    run_dirs: Path | Sequence[Path],
    output: Path | None = None,
    running: Mapping[Path, Manifest] | None = None,
    counted: Counted = in_silence,
    on_answer: Callable[[Answered], object] | None = None,
    figures: Callable[[str, Results], list[FigureSection]] = figure_sections,
) -> Path:
    """Write one offline HTML report over one or several runs, and `claims.json` into each run directory.

    The report of one run is in its directory, that of several in a directory beside the experiments, unless
    `output` names a file. `running` are runs that another process still writes, with their current manifests:
    nothing is written into them. `counted` gets the progress, `on_answer` the answer of a single run with
    sentences about claims and cells not run, and `figures` draws those of a run. An unreadable run becomes
    a sentence in the report, or a ReportError if it is the only one.
    """
    directories = [run_dirs] if isinstance(run_dirs, Path) else list(run_dirs)
    if not directories:
        raise ReportError("No run directory was given; give at least one, results/<experiment>/<time>-<id>.")
    runs, unreadable = _load(directories, running or {})
    if not runs:
        raise ReportError(" ".join(unreadable))
    is_combined = output is None and len(directories) > 1
    path = output or (combined_directory(runs) if is_combined else directories[0]) / REPORT
    sections, measured = [], [Results(run, counted) for run in runs]
    for number, results in enumerate(measured, start=1):
        run = results.run
        _LOGGER.debug("measures %s", run.directory)
        results.measure_all()
        _LOGGER.debug("compares with claims")
        outcomes = hold_against(read_claims(), results)
        if run.directory not in (running or {}):
            write_whole(run.directory / CLAIMS, claims_text(run.manifest, outcomes))
        level = 2 if len(runs) == 1 else 3
        _LOGGER.debug("draws figures")
        drawn = figures(f"run{number}", results)
        sections.append(run_section(f"run{number}", level, results, outcomes, drawn, path.parent))
    page = render(sections, side_by_side(measured), unreadable)
    if is_combined:
        make_combined_directory(runs)
        write_whole(path.with_name(RUNS), runs_text(runs))
    write_whole(path, page)
    if on_answer is not None and len(measured) == 1:
        warned = [f"note: {warning}" for warning in sections[0].warnings]
        notes = [*verdict_summary(sections[0].judged), not_run(measured[0]), *warned]
        on_answer(Answered(sections[0].answer, [sentence for sentence in notes if sentence]))
    return path


def _load(directories: list[Path], running: Mapping[Path, Manifest]) -> tuple[list[Run], list[str]]:
    runs, unreadable = [], []
    for directory in directories:
        try:
            runs.append(Run(directory, running.get(directory)))
        except ReportError as error:
            unreadable.append(str(error))
    return runs, unreadable
