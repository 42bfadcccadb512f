"""Tests: transfers of a cell, and when flows have work."""

import numpy as np
import pandas as pd
import pytest
from helpers.small_runs import filled, transfer, transfers
from hypothesis import given
from hypothesis import strategies as st

from rogue.reports.cells.activity import Level, always_busy, levels_of, spans_of
from rogue.reports.cells.transfers import Waits, waits_of


def test_flows_are_in_natural_order_without_probes() -> None:
    found = transfers(transfer("h10"), transfer("probe", size_bytes=0), transfer("h2"), transfer("h10"))
    assert found.flow_ids == ("h2", "h10")
    assert found.flow.tolist() == [1, 0, 1]
    assert len(found) == 3


def test_missing_times_are_nan() -> None:
    found = transfers(transfer("a", end_ns=None, fct_ns=None, status="unfinished"), transfer("a", fct_ns=7))
    assert np.isnan(found.end_ns).tolist() == [True, False]
    assert np.isnan(found.fct_ns).tolist() == [True, False]
    assert found.is_unfinished.tolist() == [True, False]
    assert found.is_ok.tolist() == [False, True]


def test_first_and_last_transfer_are_those_by_start() -> None:
    found = transfers(
        transfer("b", start_ns=50, end_ns=90),
        transfer("a", start_ns=20, end_ns=70),
        transfer("b", start_ns=10, end_ns=50),
    )
    first, last = found.ends_of_flows()
    assert found.start_ns[first].tolist() == [20, 10]
    assert found.start_ns[last].tolist() == [20, 50]


NAMES = ["ok", "error", None, "ok"]


def row(
    flow: str, number: int, times: tuple[int, int | None], after: tuple[str, int] | None = None
) -> dict[str, object]:
    start_ns, arrived_ns = times
    return transfer(
        f"main/{flow}",
        transfer_id=number,
        group="main",
        dst=flow.partition("->")[2],
        start_ns=start_ns,
        arrived_ns=arrived_ns,
        waited_for_flow=after and f"main/{after[0]}",
        waited_for_transfer=after and after[1],
    )


def found(*rows: dict[str, object]) -> Waits | None:
    return waits_of(pd.DataFrame(filled("flows", rows)))


def test_critical_path_starts_at_the_last_arrival() -> None:
    waits = found(
        row("a->b", 1, (0, 10)),
        row("c->b", 1, (0, 20)),
        row("b->d", 1, (25, 40), ("c->b", 1)),
        row("b->d", 2, (25, 35), ("a->b", 1)),
    )
    assert waits is not None
    assert waits.critical == (1, 2)
    assert waits.last_of_hosts() == {"b": 20, "d": 40}
    assert (waits.first_ns, waits.is_complete) == (0, True)


def test_waits_need_known_arrivals() -> None:
    assert found(row("a->b", 1, (0, None))) is None


def test_incomplete_waits() -> None:
    waits = found(row("a->b", 1, (0, 10)), row("b->c", 1, (10, None), ("a->b", 1)))
    assert waits is not None
    assert not waits.is_complete
    assert waits.critical == (0,)


def test_other_groups_do_not_count() -> None:
    waits = found(row("a->b", 1, (5, 10)), transfer("other/x->y", group="other", start_ns=0))
    assert waits is not None
    assert (len(waits.start_ns), waits.first_ns) == (1, 5)


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


def test_levels_of_one_flow_that_joins_another() -> None:
    assert levels_of({"a": (0, 100), "b": (40, 60)}) == [
        Level(0, 40, ("a",)),
        Level(40, 60, ("a", "b")),
        Level(60, 100, ("a",)),
    ]


@given(st.dictionaries(st.text("abcd", min_size=1), st.tuples(st.integers(0, 50), st.integers(51, 99))))
def test_levels_fill_the_spans(spans: dict[str, tuple[int, int]]) -> None:
    levels = levels_of(spans)
    for flow_id, (start, end) in spans.items():
        assert (
            sum(level.end_ns - level.start_ns for level in levels if flow_id in level.flow_ids) == end - start
        )
