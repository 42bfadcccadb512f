"""From rows to the columns of a table."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from rogue.harness.testbeds.base import Columns

RowT = TypeVar("RowT", bound=NamedTuple)


def columns_of(kind: type[RowT], rows: Iterable[RowT]) -> Columns:
    """Rows as columns, by the names of the fields."""
    listed = list(rows)
    return {name: [row[index] for row in listed] for index, name in enumerate(kind._fields)}
