"""The record schema: what reports and other people's scripts rely on."""

import pytest

from rogue.workloads.records import TABLES, Column, FailureKind, Table

UNITS = ("_ns", "_ps", "_bytes", "_bps", "_packets", "_cores")
UNITLESS_NUMBERS = {
    "transfer_id", "waited_for_transfer", "wr_id", "priority", "slowdown", "drops", "marks", "before",
    "after", "bytes", "value",
    "src_qp_num", "qp_num", "psn", "immediate", "told_priorities", "paused_priorities",
}  # fmt: skip


def every_column() -> list[tuple[Table, Column]]:
    return [(table, column) for table in TABLES.values() for column in table.columns]


@pytest.mark.parametrize("name", TABLES)
def test_registry_key_is_the_table_name(name: str) -> None:
    assert TABLES[name].name == name


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_unique(name: str) -> None:
    names = TABLES[name].column_names()
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("table", "column"), every_column())
def test_number_carries_its_unit(table: Table, column: Column) -> None:
    if column.type in ("int64", "float64"):
        assert column.name.endswith(UNITS) or column.name in UNITLESS_NUMBERS, f"{table.name}.{column.name}"


def test_flows_are_as_published() -> None:
    assert TABLES["flows"].column_names() == (
        "flow_id", "transfer_id", "group", "transport", "verb", "service", "src", "dst", "size_bytes",
        "start_ns", "end_ns", "fct_ns", "ideal_fct_ns", "slowdown", "goodput_bps", "retransmitted_bytes",
        "status", "error", "arrived_ns", "waited_for_flow", "waited_for_transfer",
    )  # fmt: skip


def test_failure_kinds_are_as_published() -> None:
    assert [kind.value for kind in FailureKind] == [
        "configuration", "preflight", "provisioning", "agent", "verbs", "switch", "timeout", "stalled",
        "node_lost", "out_of_space", "invalid_result", "bug",
    ]  # fmt: skip
