"""Tables as Arrow arrays."""

import numpy as np
import pyarrow as pa
import pytest

from rogue.harness.results.tables import to_arrow
from rogue.harness.testbeds.base import TestbedError
from rogue.workloads.records import TABLES

WORDS = {"flow_id": ["a", "ü->b", ""], "name": np.array(["x", "y", "z"], object)}
NULLABLE = next(
    (table.name, column.name, column.type)
    for table in TABLES.values()
    for column in table.columns
    if column.nullable and column.type == "int64"
)


def control(t_ns: object, value: object) -> pa.Table:
    """Make a table of three rows with columns of every type but truth values."""
    return to_arrow("control", {**WORDS, "t_ns": t_ns, "value": value})  # type: ignore[dict-item]


@pytest.mark.parametrize("t_ns", [[1, 2, 2**60], np.array([1, 2, 2**60]), np.array([1.0, 2.0, 2.0**60])])
@pytest.mark.parametrize("value", [[0.5, 1, -2.0], np.array([0.5, 1, -2.0]), np.array([0.5, 1, -2], object)])
def test_lists_and_arrays_become_the_same_table(t_ns: object, value: object) -> None:
    assert control(t_ns, value).to_pydict() == {
        "flow_id": ["a", "ü->b", ""],
        "t_ns": [1, 2, 2**60],
        "name": ["x", "y", "z"],
        "value": [0.5, 1.0, -2.0],
    }


def test_table_is_sound_inside() -> None:
    table = control(np.arange(6)[::2], np.array([1, 2, 3]))
    table.validate(full=True)
    assert table["t_ns"].to_pylist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("t_ns", "value"),
    [
        ([1, 2, 0.5], [0.0] * 3),
        (np.array([1, 2, np.inf]), [0.0] * 3),
        (["1", "2", "3"], [0.0] * 3),
        ([1, 2, 2**70], [0.0] * 3),
        ([1, None, 3], [0.0] * 3),
        ([1, 2, 3], ["x", 0.0, 0.0]),
        ([1, 2, 3], [0.0, float("nan"), 0.0]),
        ([1, 2], [0.0] * 3),
    ],
)
def test_value_of_another_type_is_an_invalid_result(t_ns: object, value: object) -> None:
    with pytest.raises(TestbedError, match="table control: "):
        control(t_ns, value)


BEYOND_FLOATS = 2**53 + 1
"""An integer that no float64 has."""


@pytest.mark.parametrize(
    ("values", "stored"),
    [
        ([None, 7], [None, 7]),
        ([float("nan"), 7.0], [None, 7]),
        (np.array([np.nan, 7.0]), [None, 7]),
        ([None, BEYOND_FLOATS], [None, BEYOND_FLOATS]),
        ([None, None], [None, None]),
    ],
)
def test_none_and_nan_are_nulls(values: object, stored: list[int | None]) -> None:
    name, nullable, _ = NULLABLE
    blank: dict[str, object] = {"int64": 1, "float64": 1.0, "string": "a", "bool": True}
    columns: dict[str, object] = {each.name: [blank[each.type]] * 2 for each in TABLES[name].columns}
    table = to_arrow(name, columns | {nullable: values})  # type: ignore[arg-type]
    table.validate(full=True)
    assert table[nullable].to_pylist() == stored


def test_column_of_text_may_be_nulls_in_numbers() -> None:
    name, text = next(
        (table.name, column.name)
        for table in TABLES.values()
        for column in table.columns
        if column.nullable and column.type == "string"
    )
    blank: dict[str, object] = {"int64": 1, "float64": 1.0, "string": "a", "bool": True}
    columns: dict[str, object] = {each.name: [blank[each.type]] * 2 for each in TABLES[name].columns}
    table = to_arrow(name, columns | {text: np.array([np.nan, np.nan])})  # type: ignore[arg-type]
    assert table[text].to_pylist() == [None, None]
