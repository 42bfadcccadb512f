"""Tests: a sans-IO application: transfers over a connection, on a schedule."""

from dataclasses import replace

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


def test_transfers_are_numbered_from_one() -> None:
    application = Application(Schedule(size_bytes=100, start_ns=at(0), count=3))
    play(application, 30)
    assert [record.transfer_id for record in application.records] == [1, 2, 3]


def test_who_says_that_a_transfer_ended_gets_its_record() -> None:
    application = Application(Schedule(size_bytes=100, start_ns=at(0)))
    transfer = application.begin(at(0))
    assert application.on_transfer_done(transfer.transfer_id, at(9)) is application.records[0]
    assert application.records[0].is_sent


def test_repeats_are_back_to_back_until_a_time() -> None:
    schedule = Schedule(size_bytes=1, start_ns=at(0), count=None, repeat_until_ns=at(100))
    assert play(Application(schedule), 40) == [0, 40, 80]
    assert play(Application(schedule), 50) == [0, 50], "none starts at the limit itself"


def test_both_limits_hold() -> None:
    assert play(Application(Schedule(1, at(0), count=2, repeat_until_ns=at(1000))), 10) == [0, 10]


def test_a_schedule_that_is_over_before_it_starts_has_no_transfer() -> None:
    assert Application(Schedule(1, at(100), count=None, repeat_until_ns=at(100))).next_start_ns is None


def test_probes_follow_their_ticks_however_slow_the_ones_before_are() -> None:
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


def test_nothing_is_started_after_an_error() -> None:
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


def test_ids_are_unique() -> None:
    application = Application(Schedule(1, at(0), count=5))
    play(application, 1)
    assert len({record.transfer_id for record in application.records}) == 5


@pytest.mark.parametrize(
    ("field", "value"), [("size_bytes", -1), ("start_ns", -1), ("count", 0), ("interval_ns", 0)]
)
def test_impossible_schedules_are_refused(field: str, value: int) -> None:
    with pytest.raises(SettingsError, match=f"{field}: got {value}"):
        replace(Schedule(1, at(0)), **{field: value})


def test_misuse_is_caught() -> None:
    application = Application(Schedule(1, at(0)))
    with pytest.raises(AssertionError, match="transfer 1 ended, but only"):
        application.on_transfer_done(1, at(0))
    application.begin(at(0))
    with pytest.raises(AssertionError, match="no transfer is due"):
        application.begin(at(1))
    with pytest.raises(AssertionError, match="transfer 9 ended"):
        application.on_transfer_done(9, at(1))


def test_the_schedules_verb_moves_its_transfers() -> None:
    transfer = Application(Schedule(1, at(0), verb="read", verb_bytes=1024)).begin(at(0))
    assert (transfer.verb, transfer.verb_bytes) == ("read", 1024)


def test_an_unknown_verb_is_the_users_mistake() -> None:
    with pytest.raises(SettingsError, match="expected one of write, read, send"):
        Schedule(1, at(0), verb="fetch")  # type: ignore[arg-type]


def test_arrivals_start_at_their_own_time_whatever_still_runs() -> None:
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


def test_a_lost_connection_ends_an_open_loop() -> None:
    application = Application(Schedule(0, at(0), arrivals=((at(0), 1), (at(9), 1))))
    application.on_transfer_done(application.begin(at(0)).transfer_id, at(1), "gone")
    assert application.next_start_ns is None


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


def test_a_lost_connection_abandons_what_nothing_keeps_back() -> None:
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


def test_nothing_is_released_on_a_lost_connection() -> None:
    schedule = Schedule(0, at(0), arrivals=((at(0), 1), (at(9), 1)), held=frozenset({1}))
    application = Application(schedule)
    application.on_transfer_done(application.begin(at(0)).transfer_id, at(1), "gone")
    assert not application.release(1, at(9))
    assert application.next_start_ns is None


@pytest.mark.parametrize("arrivals", [((at(5), 1), (at(4), 1)), ((at(5), -1),)])
def test_arrivals_have_an_order_and_sizes(arrivals: tuple[tuple[HostNs, int], ...]) -> None:
    with pytest.raises(SettingsError, match="arrivals"):
        Schedule(0, at(0), arrivals=arrivals)


def test_there_is_more_while_an_arrival_is_held_that_may_be_released() -> None:
    application = Application(Schedule(0, at(0), arrivals=((at(0), 1), (at(9), 1)), held=frozenset({1})))
    application.on_transfer_done(application.begin(at(0)).transfer_id, at(1))
    assert (application.next_start_ns, application.has_more) == (None, True)
    application.release(1, at(9))
    application.on_transfer_done(application.begin(at(9)).transfer_id, at(10))
    assert not application.has_more
    lost = Application(Schedule(0, at(0), arrivals=((at(0), 1), (at(9), 1)), held=frozenset({1})))
    lost.on_transfer_done(lost.begin(at(0)).transfer_id, at(1), "gone")
    assert not lost.has_more


class Diary:
    """Observes transfers, and returns what each one waited for."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, int, int]] = []

    def on_start(self, transfer_id: int, now: HostNs) -> tuple[str, int] | None:
        self.lines.append(("start", transfer_id, now))
        return ("before", 7) if transfer_id == 2 else None

    def on_end(self, transfer_id: int, now: HostNs) -> None:
        self.lines.append(("end", transfer_id, now))


def test_a_watcher_hears_of_starts_and_ends_and_says_what_came_before() -> None:
    diary = Diary()
    application = Application(Schedule(1, at(0), count=2), diary)
    play(application, 5)
    assert diary.lines == [("start", 1, 0), ("end", 1, 5), ("start", 2, 5), ("end", 2, 10)]
    assert [record.waited_for for record in application.records] == [None, ("before", 7)]


def test_the_last_verb_says_which_transfer_it_ends_if_arrivals_are_told() -> None:
    told = Application(Schedule(1, at(0), count=2, tells_arrivals=True))
    assert [told.begin(at(0)).imm, Application(Schedule(1, at(0))).begin(at(0)).imm] == [1, None]


def test_a_waiter_goes_on_after_the_last_of_its_causes_and_their_pauses() -> None:
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


def test_a_cause_happens_once() -> None:
    waits: Waits[int, str] = Waits()
    for number in range(3):
        waits.add(number, "a", 0)
    assert waits.is_awaited("a")
    assert waits.on_cause("a", 1) == [0, 1, 2]
    assert not waits.is_awaited("a")
    assert waits.on_cause("a", 2) == []
    assert waits.not_before_ns(0) == 1


def test_who_waits_for_nothing_has_nothing_to_name() -> None:
    waits: Waits[int, str] = Waits()
    assert waits.last(7) is None
    assert waits.on_cause("nothing", 3) == []


def test_of_causes_whose_pauses_end_together_the_later_one_is_named() -> None:
    waits: Waits[str, str] = Waits()
    waits.add("x", "a", 30)
    waits.add("x", "b", 10)
    waits.on_cause("a", 10)
    assert waits.on_cause("b", 30) == ["x"]
    assert (waits.not_before_ns("x"), waits.last("x")) == (40, "b")
