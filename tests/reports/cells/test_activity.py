"""Spans and levels, worked by hand."""

import pytest
from helpers.small_runs import transfer, transfers
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.cells.activity import Level, always_busy, levels_of, spans_of


def test_span_is_first_start_to_last_end() -> None:
    table = transfers(
        transfer("a", start_ns=50, end_ns=90), transfer("a", start_ns=10, end_ns=50), transfer("b", end_ns=70)
    )
    assert spans_of(table, 100) == {"a": (10, 90), "b": (0, 70)}


@pytest.mark.parametrize(("status", "end_ns"), [("error", 40), ("unfinished", None)])
def test_flow_that_failed_has_work_to_the_end(status: str, end_ns: int | None) -> None:
    assert spans_of(transfers(transfer("a", status=status, end_ns=end_ns)), 100) == {"a": (0, 100)}


@pytest.mark.parametrize(
    ("second_start", "busy"),
    [(50, True), (54, True), (61, False)],  # 90, 86 and 79 of 90 are filled: nine in ten are needed
)
def test_back_to_back_transfers_are_always_busy(second_start: int, busy: bool) -> None:
    table = transfers(transfer("a", end_ns=50), transfer("a", start_ns=second_start, end_ns=90))
    assert always_busy(table, spans_of(table, 100)) is busy


def test_failed_flow_is_busy() -> None:
    table = transfers(transfer("a", status="error", end_ns=1), transfer("b", end_ns=100))
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
