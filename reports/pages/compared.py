"""The page of two runs: what differs first, then each figure with both."""

from pathlib import Path

from rogue.reports.claims.links import table_anchor
from rogue.reports.comparison.joint_run import JointRun
from rogue.reports.comparison.two_runs import HEAD, Compared, conclusions, shown, told_apart
from rogue.reports.pages.page import FigureSection, dressed, figure_sections, transports_of
from rogue.reports.pages.tables import CsvRow, Head, ReportTable, Value, csv_href
from rogue.reports.reading.files import write_whole
from rogue.reports.results import Counted, Results, in_silence

KEY = "compared"


def write_comparison(
    compared: list[Compared], first: Results, second: Results, output: Path, counted: Counted = in_silence
) -> None:
    """Write one offline page; its figures show the settings that both runs have, each side by its letter."""
    joint = Results(JointRun(first.run, second.run), counted)
    page = dressed("compared.html.j2").render(
        title=" beside ".join(dict.fromkeys(each.run.manifest.title for each in (first, second))),
        runs=[(letter, each.run) for letter, each in zip("AB", (first, second), strict=True)],
        apart=told_apart(first, second),
        conclusions=conclusions(compared),
        table=_table(compared, first),
        section=_Figures(figure_sections(KEY, joint)),
        transports=transports_of([joint]),
    )
    write_whole(output, page)


class _Figures:
    """What the template of figures asks of a section."""

    key = KEY
    level = 2

    def __init__(self, figures: list[FigureSection]) -> None:
        self.figures = figures


def _table(compared: list[Compared], first: Results) -> ReportTable:
    """Return what differs, and what the experiment is about; all of it is in the CSV."""
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
