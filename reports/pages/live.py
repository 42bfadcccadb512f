"""The live page of a run: the report so far below the current state."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rogue.reports.quantities import counted
from rogue.reports.run_index import shown
from rogue.reports.templates.environment import environment, style

FAILED_SHOWN_MAX: Final = 50
_MAIN: Final = '<main id="main">'
_END_OF_HEAD: Final = "</head>"


@dataclass(frozen=True, slots=True)
class LivePage:
    """The state of a running run."""

    title: str
    run: str
    testbed: str
    counts: Sequence[tuple[str, int]]
    share: float
    elapsed_seconds: float
    seconds_left: float | None
    running: Sequence[tuple[str, float]] | None
    """Running cells with the fraction that is done; None if that is unknown."""
    failed: Sequence[tuple[str, str]]
    refresh_seconds: int
    figures_of: int | None
    """Number of cells in the figures; None before there are any."""
    problem: str | None
    """Reason why there are no newer figures."""
    so_far: Sequence[str] = ()
    """Progress of a search, which does not know the number of its cells."""


def live_page(live: LivePage, report: str | None) -> str:
    """Return the page, which browsers reload automatically."""
    shown_failed = [(shown(name), shown(reason)) for name, reason in live.failed[:FAILED_SHOWN_MAX]]
    return _page(
        report,
        live.title,
        {"live": live, "failed": shown_failed, "more_failed": max(0, len(live.failed) - FAILED_SHOWN_MAX)},
    )


def last_page(title: str, run: str, counts: Sequence[tuple[str, int]], report: str | None) -> str:
    """Return the page of a finished run: its report with a note, without automatic reload."""
    again = shlex.join(["rogue", "report", run])
    values: dict[str, object] = {"live": None, "run": run, "again": again, "counts": counts}
    return _page(report, title, values | {"has_report": report is not None})


def seconds_text(seconds: float) -> str:
    """Write a time on a clock: `45 s`, `12 min`, `3 h 5 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _page(report: str | None, title: str, values: dict[str, object]) -> str:
    """Insert head and part into the report; without a report they form a separate page."""
    pages = environment()
    pages.globals.update(counted=counted, shown=shown, seconds_text=seconds_text)
    head = Markup(pages.get_template("live_head.html.j2").render(values))
    part = Markup(pages.get_template("live_part.html.j2").render(values))
    if report is not None and _MAIN in report and _END_OF_HEAD in report:
        with_head = report.replace(_END_OF_HEAD, f"{head}{_END_OF_HEAD}", 1)  # `+` would escape the tag
        return with_head.replace(_MAIN, f"{_MAIN}{part}", 1)
    return pages.get_template("live.html.j2").render(
        title=shown(title), live_head=head, part=part, style=style()
    )
