"""Generate the reference page of results: the columns of a run's tables, and the measures."""

import inspect
from collections.abc import Iterator
from typing import Final

from reference_experiments import table

from rogue.reports.cells.view import CellView, common_interval_ns
from rogue.reports.metrics import FAMILIES
from rogue.reports.metrics.statistics import interval_of, mean_interval, nearest_rank
from rogue.reports.results.loaded import BASE_UNITS
from rogue.workloads.records import TABLES, Column


def generated() -> str:
    """Return the page."""
    parts = [
        "# Tables and measures",
        "[Read a run's results](../how-to/read-results.md) shows how to load these. The last word of a"
        " column's name is its unit: times are nanoseconds from the start of the cell, rates bit/s, sizes"
        " bytes. A null means that there is no such number.",
        "## Measures",
        "One number per cell, in base units. A lost probe counts as infinite, and so does an unfinished"
        " transfer in a percentile.",
        *_definitions(),
        *_families(),
        "## Tables",
        *_tables(),
    ]
    return "\n\n".join(parts) + "\n"


DEFINITIONS: Final = {
    "Percentiles: p50, p90, p99": nearest_rank,
    "Mean over repetitions": mean_interval,
    "Interval of a mean": interval_of,
    "Time over which goodput and shares are measured": CellView.window,
    "Interval of flow goodput": common_interval_ns,
    "Time over which queues and ports are measured": CellView.load_window,
    "Bottleneck, and the priorities of its port": CellView.bottleneck_port,
}
"""Functions whose docstring is the definition."""


def _definitions() -> Iterator[str]:
    for title, place in DEFINITIONS.items():
        yield f"### {title}"
        yield _text(place)


def _families() -> Iterator[str]:
    """Yield the definitions that the measures of a family share, and its measures."""
    for family in FAMILIES:
        summary, _, more = _text(family).partition("\n\n")
        yield f"### {summary.splitlines()[0].split(': ')[0].rstrip('.')}"
        yield f"{summary}\n\n{more}".strip()
        rows = [
            (f"`{each.name}`", BASE_UNITS[each.unit], f"{each.title}: {each.meaning}")
            for each in family.METRICS
        ]
        yield table(("measure", "unit", "what it is"), rows)


def _text(place: object) -> str:
    """Return a docstring for a page; of a cached property that of its function."""
    function = getattr(place, "func", None) or getattr(place, "fget", None) or place
    text = (inspect.getdoc(function) or "").removeprefix("Return ")
    return f"{text[:1].upper()}{text[1:]}"


def _tables() -> Iterator[str]:
    for each in TABLES.values():
        yield f"### {each.name}"
        yield f"{each.meaning[0].upper()}{each.meaning[1:]}."
        rows = [(f"`{column.name}`", _type(column), column.meaning) for column in each.columns]
        yield table(("column", "type", "what it is"), rows)


def _type(column: Column) -> str:
    return f"{column.type} or null" if column.nullable else column.type
