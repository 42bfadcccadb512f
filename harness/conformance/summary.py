"""Describe the outcomes of checks: a table for terminals, a JSON document and a page."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from rogue.harness.conformance.check import Outcome, Verdict
from rogue.reports.pages.search_pages import Part, SearchPage, Table, search_html

JSON_FILE: Final = "conformance.json"
PAGE: Final = "conformance.html"
HEAD: Final = ("check", "result", "measured", "expected")


def rows_of(outcome: Outcome) -> list[tuple[str, str, str, str]]:
    """Return a row for each reading of a check; the first one names the check and its result."""
    if not outcome.readings:
        return [(outcome.check.title, str(outcome.verdict), outcome.reason or "", "")]
    texts = [(reading.text, reading.expected) for reading in outcome.readings]
    first = (outcome.check.title, str(outcome.verdict))
    return [((*first, *text) if at == 0 else ("", "", *text)) for at, text in enumerate(texts)]


def conclusion(outcomes: Sequence[Outcome]) -> str:
    """Return the number of checks by result."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    parts = [f"{counts[verdict]} {verdict}" for verdict in reversed(Verdict) if counts[verdict]]
    return f"{len(outcomes)} checks: {', '.join(parts)}."


def content(outcomes: Sequence[Outcome], device: str, nic: str | None) -> dict[str, object]:
    """Return the JSON document: times in nanoseconds."""
    return {"device": device, "nic": nic, "checks": [_content(outcome) for outcome in outcomes]}


def _content(outcome: Outcome) -> dict[str, object]:
    check = outcome.check
    readings = [
        {"name": each.name, "value": each.value, "unit": each.unit, "result": each.verdict,
         "specified": each.specified and each.specified.text, "profile": each.profile and each.profile.text}
        for each in outcome.readings
    ]  # fmt: skip
    return {
        "name": outcome.name, "title": check.title, "group": check.group, "result": outcome.verdict,
        "reason": outcome.reason, "requires": check.requires, "source": check.source, "readings": readings,
    }  # fmt: skip


def page_html(outcomes: Sequence[Outcome], device: str, nic: str | None) -> str:
    """Return a page with the results, and with what each check requires."""
    compared = f"Times without a specification are compared with the profile {nic}." if nic else ""
    parts = [
        Part(group.capitalize() if group.islower() else group, tables=[_table(group, list(own))])
        for group, own in groupby(outcomes, key=lambda outcome: outcome.check.group)
    ]
    sources = [(each.check.title, each.check.requires, each.check.source) for each in outcomes]
    parts.append(
        Part(
            "Requirements",
            tables=[Table("What each check requires", ("check", "requires", "source"), sources)],
        )
    )
    summary = [line for line in (conclusion(outcomes), compared) if line]
    return search_html(SearchPage("Conformance", f"Reactions to single packets: {device}", summary, parts))


def _table(group: str, outcomes: Sequence[Outcome]) -> Table:
    return Table(f"Checks: {group}", HEAD, [row for outcome in outcomes for row in rows_of(outcome)])
