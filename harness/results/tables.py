"""Encode the tables of a cell as Parquet files, checked against the record schema."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.workloads.records import SCHEMA_VERSION, TABLES, FailureKind, Table

_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string(), "bool": pa.bool_()}
_NUMPY = {pa.int64(): np.int64, pa.float64(): np.float64, pa.bool_(): np.bool_}
Array = NDArray[Any]


def arrow_schema(table: Table) -> pa.Schema:
    """Return the Arrow schema of a table, with the schema version and the meaning of each column."""
    fields = [
        pa.field(column.name, _TYPES[column.type], column.nullable, metadata={"meaning": column.meaning})
        for column in table.columns
    ]
    return pa.schema(fields, metadata={"schema_version": str(SCHEMA_VERSION), "table": table.name})


def to_arrow(name: str, columns: Columns) -> pa.Table:
    """Check a table and order its columns as the schema does.

    Raises TestbedError (invalid_result) with the wrong table and column.
    """
    if name not in TABLES:
        raise TestbedError(
            FailureKind.INVALID_RESULT, f"there is no table {name}; there are {', '.join(TABLES)}"
        )
    schema = arrow_schema(TABLES[name])
    unknown, missing = set(columns) - set(schema.names), set(schema.names) - set(columns)
    if unknown or missing:
        raise _invalid(name, f"columns missing: {sorted(missing)}, unknown: {sorted(unknown)}")
    try:
        arrays = [_column(name, field, columns[field.name]) for field in schema]
        table = pa.table(arrays, schema=schema)
    except (pa.ArrowInvalid, OverflowError) as error:
        raise _invalid(name, str(error)) from error
    for field in schema:
        if not field.nullable and table.column(field.name).null_count:
            raise _invalid(name, f"column {field.name} has nulls")
    return table


def encode(tables: Mapping[str, Columns]) -> dict[str, bytes]:
    """Return Parquet files by name; the same tables give the same bytes."""
    return {f"{name}.parquet": _parquet(to_arrow(name, columns)) for name, columns in tables.items()}


def _column(name: str, field: pa.Field, values: Sequence[object] | Array) -> pa.Array:
    """Return values as an Arrow array; None and NaN become nulls, and a fraction is no integer.

    It is made of buffers, because `pa.array` imports pandas, which takes as long as a small cell.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        is_null = np.isnan(values)
        present: Array = np.where(is_null, 0, values) if is_null.any() else values
    else:
        is_null = np.array([value is None or value != value for value in values], np.bool_)  # noqa: PLR0124
        nothing = "" if field.type == pa.string() else 0
        present = np.array(
            [nothing if none else value for none, value in zip(is_null, values, strict=True)], np.object_
        )
    if len(values) and is_null.all():
        return pa.nulls(len(values), field.type)
    buffers = _text_buffers(present) if field.type == pa.string() else _number_buffers(field.type, present)
    if buffers is None:
        raise _invalid(name, f"column {field.name} has a value that is no {field.type}")
    validity = pa.py_buffer(np.packbits(~is_null, bitorder="little")) if is_null.any() else None
    return pa.Array.from_buffers(field.type, len(values), [validity, *map(pa.py_buffer, buffers)])


def _text_buffers(words: Array) -> list[bytes | Array] | None:
    """Return where each word begins, and their bytes; None if there is something that is no text."""
    try:
        text = "".join(words)
    except TypeError:
        return None
    sizes = map(len, words) if text.isascii() else (len(word.encode()) for word in words)
    return [np.cumsum([0, *sizes], dtype=np.int32), text.encode()]


def _number_buffers(kind: pa.DataType, numbers: Array) -> list[bytes | Array] | None:
    """Return numbers as this type of Arrow has them in memory; None if it does not have all of them."""
    try:
        with np.errstate(invalid="ignore"):
            converted: Array = np.ascontiguousarray(numbers.astype(_NUMPY[kind]))
    except (TypeError, ValueError, OverflowError):
        return None
    if not np.array_equal(converted, numbers):
        return None
    return [np.packbits(converted, bitorder="little") if kind == pa.bool_() else converted]


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _invalid(name: str, what: str) -> TestbedError:
    return TestbedError(FailureKind.INVALID_RESULT, f"table {name}: {what}")
