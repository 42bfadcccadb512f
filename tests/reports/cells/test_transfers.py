"""Transfers as arrays, worked by hand."""

import numpy as np
from helpers.tiny_run import transfer, transfers


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
