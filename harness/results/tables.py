"""Encode the tables of a cell as Parquet files, checked against the record schema."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.parquet as pq

from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.workloads.records import SCHEMA_VERSION, TABLES, FailureKind, Table

_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


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
        table = pa.table([_column(field, columns[field.name]) for field in schema], schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise _invalid(name, str(error)) from error
    for field in schema:
        if not field.nullable and table.column(field.name).null_count:
            raise _invalid(name, f"column {field.name} has nulls")
    return table


def encode(tables: Mapping[str, Columns]) -> dict[str, bytes]:
    """Return Parquet files by name; the same tables give the same bytes."""
    return {f"{name}.parquet": _parquet(to_arrow(name, columns)) for name, columns in tables.items()}


def _column(field: pa.Field, values: object) -> pa.Array:
    """Return values as an Arrow array; None and NaN become nulls, and a fraction is no integer."""
    array = pa.array(values, from_pandas=True)
    return array if array.type == field.type else array.cast(field.type)


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _invalid(name: str, what: str) -> TestbedError:
    return TestbedError(FailureKind.INVALID_RESULT, f"table {name}: {what}")
