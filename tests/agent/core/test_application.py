"""Tests: a sans-IO application: transfers over a connection, on a schedule."""

from dataclasses import replace
from typing import Any

import pytest

from rogue.agent.core.application import Application, Schedule, Waits
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.errors import SettingsError


def at(now_ns: int) -> HostNs:
    return HostNs(now_ns)


def play(application: Application, duration_ns: int, *, until_ns: int = 10**9) -> list[int]:
    """Start each transfer when it is due, let each take `duration_ns`; return the instants of the starts."""
    starts = []
    while application.next_start_ns is not None and application.next_start_ns < until_ns:
        now = application.next_start_ns
        transfer = application.begin(now)
        starts.append(int(now))
        application.on_transfer_done(transfer.transfer_id, at(now + duration_ns))
    return starts


def test_one_transfer_by_default() -> None:
    application = Application(Schedule(size_bytes=100, start_ns=at(50)))
    assert play(application, 30) == [50]
    (record,) = application.records
    assert (record.size_bytes, record.start_ns, record.end_ns, record.status) == (100, 50, 80, "ok")
    assert record.is_sent


def test_transfers_are_numbered_from_one() -> None:
    application = Application(Schedule(size_bytes=100, start_ns=at(0), count=3))
    play(application, 30)
    assert [record.transfer_id for record in application.records] == [1, 2, 3]


def test_repeats_are_back_to_back_until_a_time() -> None:
    schedule = Schedule(size_bytes=1, start_ns=at(0), count=None, repeat_until_ns=at(100))
    assert play(Application(schedule), 40) == [0, 40, 80]
    assert play(Application(schedule), 50) == [0, 50], "none starts at the limit itself"
    assert play(Application(replace(schedule, count=2)), 10) == [0, 10], "both limits hold"
    assert play(Application(replace(schedule, start_ns=at(100))), 10) == []


def test_probes_start_at_their_interval_even_if_earlier_ones_are_slow() -> None:
    probe = Schedule(size_bytes=0, start_ns=at(5), count=None, repeat_until_ns=at(350), interval_ns=100)
    assert play(Application(probe), 10) == [5, 105, 205, 305]
    application = Application(probe)
    transfers = []
    while application.next_start_ns is not None:
        transfers.append(application.begin(application.next_start_ns))
    for transfer in transfers:
        application.on_transfer_done(transfer.transfer_id, at(1000))
    assert [record.start_ns for record in application.records] == [5, 105, 205, 305]
    assert [record.end_ns for record in application.records] == [1000] * 4


def test_nothing_starts_after_an_error() -> None:
    application = Application(Schedule(1, at(0), count=None))
    transfer = application.begin(at(0))
    application.on_transfer_done(transfer.transfer_id, at(7), "IBV_WC_RETRY_EXC_ERR")
    assert application.next_start_ns is None
    assert (application.records[0].status, application.records[0].error) == ("error", "IBV_WC_RETRY_EXC_ERR")


def test_finish_leaves_the_running_transfer_unfinished() -> None:
    application = Application(Schedule(1, at(0), count=None))
    application.begin(at(0))
    assert application.finish() == application.records
    assert (application.records[0].status, application.records[0].end_ns) == ("unfinished", None)
    assert application.finish() == []
    assert application.next_start_ns is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"size_bytes": -1}, "size_bytes: got -1"),
        ({"start_ns": -1}, "start_ns: got -1"),
        ({"count": 0}, "count: got 0"),
        ({"interval_ns": 0}, "interval_ns: got 0"),
        ({"verb": "fetch"}, "expected one of write, read, send"),
        ({"arrivals": ((5, 1), (4, 1))}, "arrivals"),
        ({"arrivals": ((5, -1),)}, "arrivals"),
    ],
)
def test_invalid_schedule_is_an_error(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        replace(Schedule(1, at(0)), **changes)


def test_transfers_use_the_verb_of_the_schedule() -> None:
    transfer = Application(Schedule(1, at(0), verb="read", verb_bytes=1024)).begin(at(0))
    assert (transfer.verb, transfer.verb_bytes) == ("read", 1024)


def test_arrivals_start_on_time_while_others_run() -> None:
    arrivals = ((at(10), 100), (at(10), 200), (at(50), 300))
    application = Application(Schedule(0, at(0), arrivals=arrivals))
    first, second = (application.begin(at(10)) for _ in range(2))
    assert (first.size_bytes, second.size_bytes) == (100, 200)
    assert application.next_start_ns == 50
    application.on_transfer_done(second.transfer_id, at(20))
    assert application.next_start_ns == 50, "an end starts nothing"
    third = application.begin(at(50))
    assert application.next_start_ns is None
    application.on_transfer_done(third.transfer_id, at(60))
    application.finish()
    assert [(record.size_bytes, record.end_ns, record.status) for record in application.records] == [
        (100, None, "unfinished"),
        (200, 20, "ok"),
        (300, 60, "ok"),
    ]


def test_a_held_arrival_starts_when_it_is_released_and_its_instant_has_come() -> None:
    schedule = Schedule(0, at(0), arrivals=((at(10), 1), (at(10), 1), (at(90), 1)), held=frozenset({1, 2}))
    application = Application(schedule)
    application.begin(at(10))
    assert application.next_start_ns is None
    assert application.release(1, at(40))
    assert application.next_start_ns == 40
    application.begin(at(40))
    assert application.release(2, at(41))
    assert application.next_start_ns == 90, "released before its instant"


def test_an_arrival_may_be_released_before_its_turn() -> None:
    schedule = Schedule(0, at(0), arrivals=((at(10), 1), (at(10), 1)), held=frozenset({1}))
    application = Application(schedule)
    assert application.release(1, at(5))
    assert application.next_start_ns == 10
    application.begin(at(10))
    assert application.next_start_ns == 10


def test_a_lost_connection_abandons_released_arrivals() -> None:
    """Number 1 is running, 2 waits for its instant, 3 was released before its turn, 4 is held."""
    arrivals = ((at(0), 1), (at(0), 1), (at(9), 1), (at(9), 1), (at(9), 1))
    application = Application(Schedule(0, at(0), arrivals=arrivals, held=frozenset({3, 4})))
    first, _second = application.begin(at(0)), application.begin(at(0))
    application.release(3, at(0))
    assert application.abandoned() == []
    application.on_transfer_done(first.transfer_id, at(1), "gone")
    assert application.abandoned() == [2, 3]
    assert application.abandoned() == [], "said once"
    assert not application.release(4, at(2))


def test_a_held_arrival_is_more_to_come_until_the_connection_is_lost() -> None:
    schedule = Schedule(0, at(0), arrivals=((at(0), 1), (at(9), 1)), held=frozenset({1}))
    application, lost = Application(schedule), Application(schedule)
    application.on_transfer_done(application.begin(at(0)).transfer_id, at(1))
    assert (application.next_start_ns, application.has_more) == (None, True)
    application.release(1, at(9))
    application.on_transfer_done(application.begin(at(9)).transfer_id, at(10))
    assert not application.has_more
    lost.on_transfer_done(lost.begin(at(0)).transfer_id, at(1), "gone")
    assert (lost.has_more, lost.release(1, at(9)), lost.next_start_ns) == (False, False, None)


class Diary:
    """Observes transfers, and returns what each one waited for."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int, int]] = []

    def on_start(self, transfer_id: int, now: HostNs) -> tuple[str, int] | None:
        self.lines.append(("start", transfer_id, now))
        return ("before", 7) if transfer_id == 2 else None

    def on_end(self, transfer_id: int, now: HostNs) -> None:
        self.lines.append(("end", transfer_id, now))


def test_a_watcher_observes_starts_and_ends() -> None:
    diary = Diary()
    application = Application(Schedule(1, at(0), count=2), diary)
    play(application, 5)
    assert diary.lines == [("start", 1, 0), ("end", 1, 5), ("start", 2, 5), ("end", 2, 10)]
    assert [record.waited_for for record in application.records] == [None, ("before", 7)]


def test_the_last_verb_carries_the_number_if_arrivals_are_reported() -> None:
    reporting = Application(Schedule(1, at(0), count=2, tells_arrivals=True))
    assert [reporting.begin(at(0)).imm, Application(Schedule(1, at(0))).begin(at(0)).imm] == [1, None]


def test_a_waiter_is_free_after_all_causes_and_pauses() -> None:
    """a at 10 and 50 later, b at 40 and 5 later: 60, for which a is to blame."""
    waits: Waits[str, str] = Waits()
    waits.add("x", "a", 50)
    waits.add("x", "b", 5)
    assert waits
    assert waits.on_cause("a", 10) == []
    assert not waits.is_free("x")
    assert waits.on_cause("b", 40) == ["x"]
    assert waits.is_free("x")
    assert (waits.not_before_ns("x"), waits.last("x")) == (60, "a")
    assert not waits


def test_a_cause_frees_its_waiters_once() -> None:
    waits: Waits[int, str] = Waits()
    for number in range(3):
        waits.add(number, "a", 0)
    assert waits.is_awaited("a")
    assert waits.on_cause("a", 1) == [0, 1, 2]
    assert not waits.is_awaited("a")
    assert waits.on_cause("a", 2) == []
    assert (waits.not_before_ns(0), waits.last(7)) == (1, None)


def test_a_cause_at_time_zero_counts() -> None:
    waits: Waits[str, str] = Waits()
    waits.add("x", "a", 0)
    assert waits.on_cause("a", 0) == ["x"]
    assert (waits.not_before_ns("x"), waits.last("x")) == (0, "a")


def test_the_later_of_two_causes_whose_pauses_end_together_counts() -> None:
    waits: Waits[str, str] = Waits()
    waits.add("x", "a", 30)
    waits.add("x", "b", 10)
    waits.on_cause("a", 10)
    assert waits.on_cause("b", 30) == ["x"]
    assert (waits.not_before_ns("x"), waits.last("x")) == (40, "b")
