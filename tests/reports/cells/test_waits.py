"""The critical path of a few transfers."""

import pandas as pd
from helpers.tiny_run import filled, transfer

from rogue.reports.cells.transfers import Waits, waits_of


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
