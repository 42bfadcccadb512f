"""Tests: completions that a connection receives, and actions that it asks its driver for."""

import pytest

from rogue.agent.core.actions import (
    RETRY_EXC_ERR,
    STATUS_NAMES,
    SUCCESS,
    WR_FLUSH_ERR,
    PostSend,
    QueuePairFailed,
    SetRate,
    TransferDone,
    status_name,
)


def test_actions_compare_by_value_so_that_two_runs_can_be_compared() -> None:
    assert PostSend(1, 2, 0, 65_536, True) == PostSend(1, 2, 0, 65_536, True)
    assert PostSend(1, 2, 0, 65_536, True) != PostSend(1, 2, 0, 65_536, False)
    assert [SetRate(10), TransferDone(1, True, 5)] == [SetRate(10), TransferDone(1, True, 5)]
    assert QueuePairFailed(None, None) != QueuePairFailed(3, 12)


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (SUCCESS, "IBV_WC_SUCCESS"),
        (WR_FLUSH_ERR, "IBV_WC_WR_FLUSH_ERR"),
        (RETRY_EXC_ERR, "IBV_WC_RETRY_EXC_ERR"),
        (21, "IBV_WC_GENERAL_ERR"),
        (99, "ibv_wc_status 99"),
        (-1, "ibv_wc_status -1"),
    ],
)
def test_statuses_have_the_names_of_verbs(status: int, name: str) -> None:
    assert status_name(status) == name


def test_names_are_those_of_the_header_in_order() -> None:
    assert len(STATUS_NAMES) == len(set(STATUS_NAMES)) == 22
