"""Build the report's page: summary, status, figures, tables, claims and provenance."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Template
from markupsafe import Markup

from rogue.reports.claims import Outcome, rows_of
from rogue.reports.claims.conditions import other_experiment
from rogue.reports.claims.rows import CLAIM_GLOBALS, claim_links, table_anchor
from rogue.reports.claims.verdict import counted_verdicts, counts_of, numbers_summary
from rogue.reports.claims.words import is_headline
from rogue.reports.drawing.panels import figure_axes, figure_look
from rogue.reports.drawing.svg import css_variable, page_pictures
from rogue.reports.export.figure_files import Download, downloads
from rogue.reports.figures import FIGURES
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.pages import first_screen, provenance
from rogue.reports.pages.answer import Answer, answer_of
from rogue.reports.pages.side_by_side import SideBySide
from rogue.reports.pages.tables import ReportTable, metric_tables, table_of_runs, zero_in_every_run
from rogue.reports.quantities import counted, duration_text
from rogue.reports.results import Results
from rogue.reports.templates.environment import environment, script, script_source, style
from rogue.reports.transport_styles import DARK_PARTNERS
from rogue.reports.warnings import warnings_of
from rogue.reports.warnings.warning import RunWarning


@dataclass(frozen=True, slots=True)
class FigureSection:
    """A figure on the page, or the reason why it is missing."""

    name: str
    title: str
    caption: str = ""
    description: str = ""
    picture: Markup | None = None
    axes: Mapping[str, object] | None = None
    """Places and spans of its panels, for values under the pointer."""
    skipped: str | None = None
    downloads: tuple[Download, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSection:
    """The content of the page about one run; `key` makes its ids unique, `level` nests its headings."""

    key: str
    level: int
    results: Results
    banner: str | None
    answer: Answer
    figures: list[FigureSection]
    tables: list[ReportTable]
    outcomes: list[Outcome]
    warnings: list[RunWarning]
    problems: list[str]
    place: Path
    """Directory of the report, for links to files beside it."""

    @property
    def first_figure(self) -> FigureSection | None:
        """Return the drawn figure that shows the answer best."""
        drawn = {figure.name: figure for figure in self.figures if not figure.skipped}
        return next((drawn[name] for name in (*self.answer.figures, *drawn) if name in drawn), None)

    @property
    def anchors(self) -> set[str]:
        """Return the anchors of the tables, without the key."""
        return {table_anchor(table.title) for table in self.tables[:-1]}

    @property
    def judged(self) -> list[Outcome]:
        """Return the judged claims."""
        return [outcome for outcome in self.outcomes if outcome.verdict.is_judged]

    @property
    def unjudged(self) -> str:
        """Return the number of claims without a verdict, by reason, as a sentence; empty for none."""
        counts = counts_of(each.verdict for each in self.outcomes if not each.verdict.is_judged)
        return (
            f"Of the other claims {counted_verdicts(counts)}; claims.json says of each why." if counts else ""
        )

    @property
    def claims_elsewhere(self) -> int:
        """Return the number of claims about other experiments; 0 if this run judges a claim."""
        own = self.results.run.manifest
        about_others = (each.claim for each in self.outcomes if other_experiment(each.claim, own))
        return 0 if self.judged else len({claim.id for claim in about_others if claim.experiments})

    @property
    def verdicts(self) -> str:
        """Count the verdicts: those of the headline first, then those with badges."""
        claims = len({outcome.claim.id for outcome in self.outcomes})
        about = len({outcome.claim.id for outcome in self.judged})
        points = (
            f", some at several factor points, {len(self.judged)} verdicts"
            if len(self.judged) > about
            else ""
        )
        headline = counts_of(each.verdict for each in self.judged if is_headline(each.claim))
        badged = counts_of(each.verdict for each in self.judged if not is_headline(each.claim))
        what = counted_verdicts(headline) or "none of them without a badge"
        rest = f" With badges, outside of the headline: {counted_verdicts(badged)}." if badged else ""
        return f"This run judges {about} of {counted(claims, 'claim')}{points}: {what}.{rest}"


def run_section(  # noqa: PLR0913 - the parts of a section
    key: str, level: int, results: Results, outcomes: list[Outcome], figures: list[FigureSection], place: Path
) -> RunSection:
    """Measure and tabulate one run; its headings start at `level`."""
    tables = [*metric_tables(results), table_of_runs(results)] if results.views else []
    warnings = warnings_of(results)
    problems = results.run.problems  # read last, when all tables of the page have been read
    banner = provenance.partial_because(results.run.manifest, problems)
    answer = answer_of(results)
    return RunSection(
        key, level, results, banner, answer, figures, tables, outcomes, warnings, problems, place
    )


def figure_sections(key: str, results: Results) -> list[FigureSection]:
    """Draw all figures of the registry; a skipped one has its reason."""
    sections = []
    for done, (name, kind) in enumerate(FIGURES.items()):
        results.counted(done, len(FIGURES), "drawing figures")
        figure = kind()
        reason = figure.skipped_because(results)
        if reason:
            sections.append(FigureSection(name, figure.title, skipped=reason))
            continue
        sections.append(_drawn(key, name, figure, results))
    return sections


def _drawn(key: str, name: str, figure: ReportFigure, results: Results) -> FigureSection:
    description = figure.describe(results)
    with figure_look():
        drawn = figure.draw(results)
        pictures = page_pictures(drawn, f"{key}-{name}", figure.title, description)
    files = downloads(f"{results.run.manifest.name}-{name}", pictures.standalone, figure.data(results))
    return FigureSection(
        name,
        figure.title,
        figure.caption + figure.omission(results),
        description,
        pictures.inline,
        figure_axes(drawn, figure.x.column, figure.y.column),
        downloads=files,
    )


def render(sections: list[RunSection], comparisons: list[SideBySide], unreadable: list[str]) -> str:
    """Return the page."""
    manifest = sections[0].results.run.manifest
    styles = [setting.style for each in sections for setting in each.results.measured_settings]
    variables = {style.name: css_variable(style.colour) for style in styles}
    return _template().render(
        title=manifest.title if len(sections) == 1 else f"Report on {len(sections)} runs",
        sections=sections,
        comparisons=comparisons,
        unreadable=unreadable,
        transports=[{"name": name, "variable": variable} for name, variable in variables.items()],
    )


def _template() -> Template:
    """Return the template of a report, with its globals."""
    pages = environment()
    pages.globals.update(
        first_screen=first_screen,
        zero_in_every_run=zero_in_every_run,
        provenance=provenance,
        counted=counted,
        duration_text=duration_text,
        **CLAIM_GLOBALS,
        rows_of=rows_of,
        numbers_summary=numbers_summary,
        claim_links=claim_links,
        table_anchor=table_anchor,
        css_variable=css_variable,
        style=style(),
        script=script(),
        script_source=script_source(),
        colours=DARK_PARTNERS,
    )
    return pages.get_template("report.html.j2")
