"""Columns of names as codes."""

import pandas as pd
import pytest

from rogue.reports.cells.transfers import coded

NAMES = ["ok", "error", None, "ok"]


@pytest.mark.parametrize("column", [pd.Series(NAMES), pd.Series(NAMES, dtype="category")])
def test_rows_and_names(column: "pd.Series[str]") -> None:
    found = coded(column)
    assert found.are("ok").tolist() == [True, False, False, True]
    assert found.are("stalled").tolist() == [False] * 4
    assert found.rows_of(~found.are("ok")) == {"error"}
