"""Tables as files."""

import io

import numpy as np
import pyarrow.parquet as pq
import pytest

from rogue.harness.results.cell_directory import arrow_schema, encode, to_arrow
from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.workloads.records import SCHEMA_VERSION, TABLES, FailureKind

LATENCY: Columns = {
    "status": ["ok", "unfinished"], "src": ["h9", "h9"], "dst": ["h8", "h8"], "t_ns": np.array([1, 2]),
    "rtt_ns": np.array([5.0, np.nan]),
    "group": ["probe", None], "service": ["rc", None],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_empty(name: str) -> None:
    table = to_arrow(name, {column: [] for column in TABLES[name].column_names()})
    assert table.schema == arrow_schema(TABLES[name])


def test_columns_come_in_the_order_of_the_schema() -> None:
    table = to_arrow("latency", LATENCY)
    assert tuple(table.column_names) == TABLES["latency"].column_names()
    assert table.column("rtt_ns").to_pylist() == [5, None]


def test_file_says_which_schema_it_follows() -> None:
    schema = pq.read_schema(io.BytesIO(encode({"latency": LATENCY})["latency.parquet"]))
    assert schema.metadata[b"schema_version"] == str(SCHEMA_VERSION).encode()
    meanings = {column.name: column.meaning.encode() for column in TABLES["latency"].columns}
    assert {field.name: field.metadata[b"meaning"] for field in schema} == meanings


def test_same_table_same_bytes() -> None:
    assert encode({"latency": LATENCY}) == encode({"latency": dict(reversed(LATENCY.items()))})


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("latencies", {}, "there is no table latencies; there are flows"),
        ("latency", {"colour": [1, 2]}, "unknown: ['colour']"),
        ("latency", {"t_ns": None}, "missing: ['t_ns']"),
        ("latency", {"t_ns": [1]}, "table latency"),
        ("latency", {"t_ns": [1, None]}, "column t_ns has nulls"),
        ("latency", {"t_ns": [1.0, float("nan")]}, "column t_ns has nulls"),
        ("latency", {"t_ns": [1, 2.5]}, "table latency"),
        ("latency", {"t_ns": [1, 2**64]}, "table latency"),
        ("latency", {"t_ns": ["1", "x"]}, "table latency"),
        ("latency", {"src": [object(), object()]}, "table latency"),
    ],
)
def test_what_does_not_fit_is_an_invalid_result(name: str, changes: dict[str, object], words: str) -> None:
    columns = {key: value for key, value in {**LATENCY, **changes}.items() if value is not None}
    with pytest.raises(TestbedError) as caught:
        to_arrow(name, columns)
    assert caught.value.kind is FailureKind.INVALID_RESULT
    assert words in str(caught.value)
