"""Generate the reference page of results: the columns of a run's tables, and the measures."""

from collections.abc import Iterator

from reference_experiments import table

from rogue.reports.metrics import METRICS
from rogue.reports.results.loaded import BASE_UNITS
from rogue.workloads.records import TABLES, Column


def generated() -> str:
    """Return the page."""
    measures = [
        (f"`{each.name}`", BASE_UNITS[each.unit], f"{each.title}: {each.meaning}")
        for each in METRICS.values()
    ]
    parts = [
        "# Tables and measures",
        "[Read a run's results](../how-to/read-results.md) shows how to load these. The last word of a"
        " column's name is its unit: times are nanoseconds from the start of the cell, rates bit/s, sizes"
        " bytes. A null means that there is no such number.",
        "## Measures",
        "One number per cell, in base units. A value that never arrived (a lost probe, an unfinished"
        " transfer) counts as infinite.",
        table(("measure", "unit", "what it is"), measures),
        "### Percentiles: p50, p90, p99",
        "Percentiles use the nearest rank: p99 of n values is the ⌈0.99 n⌉-th smallest.",
        "## Tables",
        *_tables(),
    ]
    return "\n\n".join(parts) + "\n"


def _tables() -> Iterator[str]:
    for each in TABLES.values():
        yield f"### {each.name}"
        yield f"{each.meaning[0].upper()}{each.meaning[1:]}."
        rows = [(f"`{column.name}`", _type(column), column.meaning) for column in each.columns]
        yield table(("column", "type", "what it is"), rows)


def _type(column: Column) -> str:
    return f"{column.type} or null" if column.nullable else column.type
