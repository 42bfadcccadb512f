from rogue.agent.core.actions import PostSend, QueuePairFailed, SetRate, TransferDone


def test_actions_compare_by_value_so_that_two_runs_can_be_compared() -> None:
    assert PostSend(1, 2, 0, 65_536, True) == PostSend(1, 2, 0, 65_536, True)
    assert PostSend(1, 2, 0, 65_536, True) != PostSend(1, 2, 0, 65_536, False)
    assert [SetRate(10), TransferDone(1, True, 5)] == [SetRate(10), TransferDone(1, True, 5)]
    assert QueuePairFailed(None, None) != QueuePairFailed(3, 12)
