"""Tests: the transfers of a cell as arrays, and the chains in which they wait."""

import numpy as np
import pandas as pd
import pytest
from helpers.small_runs import filled, transfer, transfers

from rogue.reports.cells.transfers import Waits, coded, waits_of


def test_probes_are_none_and_flows_are_ordered_as_people_count() -> None:
    found = transfers(transfer("h10"), transfer("probe", size_bytes=0), transfer("h2"), transfer("h10"))
    assert found.flow_ids == ("h2", "h10")
    assert found.flow.tolist() == [1, 0, 1]
    assert len(found) == 3


def test_what_never_came_is_not_a_number() -> None:
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


def test_of_transfers_that_start_together_the_table_has_the_order() -> None:
    found = transfers(transfer("a", size_bytes=1), transfer("a", size_bytes=2))
    first, last = found.ends_of_flows()
    assert (found.size_bytes[first].tolist(), found.size_bytes[last].tolist()) == ([1], [2])


def test_no_transfer_at_all() -> None:
    assert transfers(transfer("probe", size_bytes=0)).flow_ids == ()


NAMES = ["ok", "error", None, "ok"]


@pytest.mark.parametrize("column", [pd.Series(NAMES), pd.Series(NAMES, dtype="category")])
def test_rows_and_names(column: "pd.Series[str]") -> None:
    found = coded(column)
    assert found.are("ok").tolist() == [True, False, False, True]
    assert found.are("stalled").tolist() == [False] * 4
    assert found.rows_of(~found.are("ok")) == {"error"}


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


def test_it_leads_back_from_the_last_to_arrive() -> None:
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


def test_where_nothing_is_known_to_have_arrived_there_is_none() -> None:
    assert found(row("a->b", 1, (0, None))) is None


def test_one_that_never_arrived_is_told() -> None:
    waits = found(row("a->b", 1, (0, 10)), row("b->c", 1, (10, None), ("a->b", 1)))
    assert waits is not None
    assert not waits.is_complete
    assert waits.critical == (0,)


def test_other_groups_do_not_count() -> None:
    waits = found(row("a->b", 1, (5, 10)), transfer("other/x->y", group="other", start_ns=0))
    assert waits is not None
    assert (len(waits.start_ns), waits.first_ns) == (1, 5)
