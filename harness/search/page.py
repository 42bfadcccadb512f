"""A search as one offline page."""

from rogue.harness.search.campaign import Outcome
from rogue.harness.search.space import Space
from rogue.harness.search.values import Target
from rogue.harness.search.words import both_text
from rogue.reports.pages.search import Row, Searched, search_html


def search_page(
    title: str, lines: list[str], outcome: Outcome, space: Space, aims: tuple[Target, Target | None]
) -> str:
    """Return the page: the summary, how far each sampler got, and every proposal."""
    (target, also), keys = aims, list(space.keys)
    rows = [
        Row(
            each.sampler,
            each.number,
            each.measured.value,
            both_text(each.measured, target, also),
            [str(each.measured.values.get(key, "")) for key in keys],
            each.measured.problem or "",
            each.is_find,
        )
        for each in outcome.told
    ]
    measure = f"{target.metric.name}, ratio" if target.is_ratio else target.metric.name
    return search_html(Searched(title, lines, keys, rows, measure, target.direction == "least"))
