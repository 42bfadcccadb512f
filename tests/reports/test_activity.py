"""Spans and levels, worked by hand."""

import pandas as pd
import pytest
from helpers.tiny_run import filled, transfer
from hypothesis import given
from hypothesis import strategies as st

from reports.activity import Level, always_busy, ends_of_flows, levels_of, spans_of


def flows(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame(filled("flows", rows))


def test_span_is_first_start_to_last_end() -> None:
    table = flows(
        transfer("a", start_ns=50, end_ns=90), transfer("a", start_ns=10, end_ns=50), transfer("b", end_ns=70)
    )
    assert spans_of(table, 100) == {"a": (10, 90), "b": (0, 70)}


def test_first_and_last_transfer_are_those_by_start() -> None:
    table = flows(
        transfer("a", start_ns=50, end_ns=90),
        transfer("b", start_ns=20, end_ns=70),
        transfer("a", start_ns=10, end_ns=50),
    )
    first, last = ends_of_flows(table)
    assert list(first["start_ns"]) == [10, 20]
    assert list(last["start_ns"]) == [50, 20]


@pytest.mark.parametrize(("status", "end_ns"), [("error", 40), ("unfinished", None)])
def test_flow_that_failed_has_work_to_the_end(status: str, end_ns: int | None) -> None:
    assert spans_of(flows(transfer("a", status=status, end_ns=end_ns)), 100) == {"a": (0, 100)}


@pytest.mark.parametrize(
    ("second_start", "busy"),
    [(50, True), (54, True), (61, False)],  # 90, 86 and 79 of 90 are filled: nine in ten are needed
)
def test_back_to_back_transfers_are_always_busy(second_start: int, busy: bool) -> None:
    table = flows(transfer("a", end_ns=50), transfer("a", start_ns=second_start, end_ns=90))
    assert always_busy(table, spans_of(table, 100)) is busy


def test_failed_flow_is_busy() -> None:
    table = flows(transfer("a", status="error", end_ns=1), transfer("b", end_ns=100))
    assert always_busy(table, spans_of(table, 100))


def test_levels_of_one_flow_that_joins_another() -> None:
    assert levels_of({"a": (0, 100), "b": (40, 60)}) == [
        Level(0, 40, ("a",)),
        Level(40, 60, ("a", "b")),
        Level(60, 100, ("a",)),
    ]


def test_time_without_flows_is_no_level() -> None:
    assert levels_of({"a": (0, 10), "b": (20, 30)}) == [Level(0, 10, ("a",)), Level(20, 30, ("b",))]


@given(st.dictionaries(st.text("abcd", min_size=1), st.tuples(st.integers(0, 50), st.integers(51, 99))))
def test_levels_fill_the_spans(spans: dict[str, tuple[int, int]]) -> None:
    levels = levels_of(spans)
    for flow_id, (start, end) in spans.items():
        assert (
            sum(level.end_ns - level.start_ns for level in levels if flow_id in level.flow_ids) == end - start
        )
