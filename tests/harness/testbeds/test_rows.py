"""Rows as columns."""

from rogue.harness.testbeds.transfer_tables import columns_of
from rogue.workloads.records import EventRow


def test_as_columns() -> None:
    rows = [EventRow("a", 1, "x", ""), EventRow("b", 2, "y", "z")]
    assert columns_of(EventRow, rows)["t_ns"] == [1, 2]
    assert columns_of(EventRow, []) == {"flow_id": [], "t_ns": [], "event": [], "detail": []}
