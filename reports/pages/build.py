"""From run directories to one report."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rogue.reports.errors import ReportError
from rogue.reports.index.combined import RUNS, combined_directory, make_combined_directory, runs_text
from rogue.reports.reading.files import CLAIMS, REPORT, write_whole

if TYPE_CHECKING:  # what reads and draws takes seconds to load, and the list of runs does without
    from rogue.reports.reading.load import Run
    from rogue.reports.results import Counted
    from rogue.workloads.manifest import Manifest


def build(
    run_dirs: Path | Sequence[Path],
    output: Path | None = None,
    going: Mapping[Path, "Manifest"] | None = None,
    counted: "Counted | None" = None,
    told: Callable[[str], object] | None = None,
) -> Path:
    """Write one offline HTML report over one or several runs, and `claims.json` into each run directory.

    The report of one run stands in its directory, that of several in a directory of its own beside the
    experiments, unless `output` names a file. `going` are those that another process still writes, with the
    manifest of what they have so far: nothing is written into them. `counted` is told how many cells are
    measured and how many figures drawn, `told` the result of a single run in a sentence or two. A run that
    cannot be read becomes a sentence in the report; if none can be read, that sentence is the ReportError.
    """
    from rogue.reports.claims import hold_against, read_claims
    from rogue.reports.claims.claims_file import claims_text
    from rogue.reports.pages.page import render, run_section
    from rogue.reports.pages.side_by_side import side_by_side
    from rogue.reports.pages.summary import in_brief
    from rogue.reports.results import Results, in_silence

    directories = [run_dirs] if isinstance(run_dirs, Path) else list(run_dirs)
    if not directories:
        raise ReportError("No run directory was given; give at least one, results/<experiment>/<time>-<id>.")
    runs, unreadable = _load(directories, going or {})
    if not runs:
        raise ReportError(" ".join(unreadable))
    is_combined = output is None and len(directories) > 1
    path = output or (combined_directory(runs) if is_combined else directories[0]) / REPORT
    sections, measured = [], [Results(run, counted or in_silence) for run in runs]
    for number, results in enumerate(measured, start=1):
        run = results.run
        results.measure_all()
        outcomes = hold_against(read_claims(), results)
        if run.directory not in (going or {}):
            write_whole(run.directory / CLAIMS, claims_text(run.manifest, outcomes))
        level = 2 if len(runs) == 1 else 3
        sections.append(run_section(f"run{number}", level, results, outcomes, path.parent))
    page = render(sections, side_by_side(measured), unreadable)
    if is_combined:
        make_combined_directory(runs)
        write_whole(path.with_name(RUNS), runs_text(runs))
    write_whole(path, page)
    if told is not None and len(measured) == 1:
        for sentence in (*in_brief(measured[0]), *sections[0].standing, sections[0].not_run):
            if sentence:
                told(sentence)
    return path


def _load(directories: list[Path], going: Mapping[Path, "Manifest"]) -> tuple[list["Run"], list[str]]:
    from rogue.reports.reading.load import Run

    runs, unreadable = [], []
    for directory in directories:
        try:
            runs.append(Run(directory, going.get(directory)))
        except ReportError as error:
            unreadable.append(str(error))
    return runs, unreadable
