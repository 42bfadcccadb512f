"""Build the report of one run or several, and the comparison of two."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rogue.reports.claims import hold_against, read_claims
from rogue.reports.claims.rows import table_anchor
from rogue.reports.claims.verdict import claims_text, verdict_summary
from rogue.reports.comparison.two_runs import HEAD, Compared, JointRun, conclusions, other_differences, shown
from rogue.reports.errors import ReportError
from rogue.reports.pages.answer import Answered
from rogue.reports.pages.first_screen import not_run
from rogue.reports.pages.page import (
    FigureSection,
    dressed,
    figure_sections,
    render,
    run_section,
    transports_of,
)
from rogue.reports.pages.side_by_side import side_by_side
from rogue.reports.pages.tables import CsvRow, Head, ReportTable, Value, csv_href
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


KEY = "compared"


def write_comparison(
    compared: list[Compared], first: Results, second: Results, output: Path, counted: Counted = in_silence
) -> None:
    """Write one offline page; its figures show the common settings of both runs, labelled A and B."""
    joint = Results(JointRun(first.run, second.run), counted)
    page = dressed("compared.html.j2").render(
        title=" beside ".join(dict.fromkeys(each.run.manifest.title for each in (first, second))),
        runs=[(letter, each.run) for letter, each in zip("AB", (first, second), strict=True)],
        apart=other_differences(first, second),
        conclusions=conclusions(compared),
        table=_comparison_table(compared, first),
        section={"key": KEY, "level": 2, "figures": figure_sections(KEY, joint), "first_figure": None},
        transports=transports_of([joint]),
    )
    write_whole(output, page)


def _comparison_table(compared: list[Compared], first: Results) -> ReportTable:
    kept = shown(compared, first, everything=False)
    kept.sort(key=lambda each: not each.differs)
    head = tuple(Head(text or "verdict") for text in HEAD)
    rows = tuple(
        tuple(
            Value(text, colour=each.setting.style.colour if place == 0 else None)
            for place, text in enumerate(each.row)
        )
        for each in kept
    )
    lines: list[CsvRow] = [["setting", "measure", "mean_a", "mean_b", "difference"]]
    for each in compared:
        lines.append([each.setting.title, each.metric.name, *each.means, each.difference.mean])
    title = "Differences"
    return ReportTable(
        title,
        "What differs comes first, then what the experiment is about. A and B are means over the runs.",
        2,
        head,
        rows,
        f"{table_anchor(title)}.csv",
        csv_href(lines),
    )
