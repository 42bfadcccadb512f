"""Transfers are reported once, in order, and none while a late packet could still touch its memory."""

from rogue.agent.core.actions import Action, TransferDone
from rogue.agent.core.lane import Reports


def reports_of(*transfer_ids: int) -> Reports:
    reports = Reports()
    for transfer_id in transfer_ids:
        reports.add(transfer_id)
    return reports


def test_a_transfer_that_completes_is_reported_at_once() -> None:
    reports, actions = reports_of(1, 2), list[Action]()
    reports.complete(1, 100, actions)
    assert actions == [TransferDone(1, True, 100)]
    assert (1 in reports, 2 in reports) == (False, True)


def test_a_suspect_is_held_with_all_that_end_after_it() -> None:
    reports, actions = reports_of(1, 2, 3), list[Action]()
    reports.suspect([2])
    for transfer_id in (1, 2, 3):
        reports.complete(transfer_id, 10, actions)
    assert actions == [TransferDone(1, True, 10)]
    assert 3 in reports, "what is held still runs"
    reports.clear_suspicion(actions)
    assert actions[1:] == [TransferDone(2, True, 10), TransferDone(3, True, 10)]
    assert 3 not in reports


def test_after_the_suspicion_reports_are_immediate_again() -> None:
    reports, actions = reports_of(1), list[Action]()
    reports.suspect([1])
    reports.clear_suspicion(actions)
    reports.complete(1, 10, actions)
    assert actions == [TransferDone(1, True, 10)]


def test_transfers_that_do_not_run_are_no_suspects() -> None:
    reports, actions = reports_of(), list[Action]()
    reports.suspect([-1, 5])
    reports.add(5)
    reports.complete(5, 10, actions)
    assert actions == [TransferDone(5, True, 10)]


def test_failure_reports_everything_once_with_its_progress() -> None:
    reports, actions = reports_of(1, 2, 3, 4), list[Action]()
    reports.suspect([1])
    reports.complete(1, 10, actions)
    reports.fail([(2, 30), (2, 60), (3, 0), (4, 0)], {3}, actions)
    assert actions == [
        TransferDone(1, False, 10),
        TransferDone(2, False, 30),
        TransferDone(3, False, 0),
        TransferDone(4, False, 0, is_sent=False),
    ]
    reports.fail([(2, 30)], set(), actions)
    assert len(actions) == 4


def test_a_transfer_of_which_one_byte_was_handed_out_has_been_sent() -> None:
    reports, actions = reports_of(1, 2), list[Action]()
    reports.fail([(1, 1), (2, 0)], set(), actions)
    assert actions == [TransferDone(1, False, 1, is_sent=True), TransferDone(2, False, 0, is_sent=False)]
