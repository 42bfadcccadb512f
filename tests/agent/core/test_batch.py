from rogue.agent.core.window import NO_EPOCH, Batch


def test_a_batch_counts_for_nothing_until_it_is_posted() -> None:
    batch = Batch()
    assert (batch.epoch, batch.is_anchored, batch.sends, batch.payload_bytes) == (NO_EPOCH, False, [], 0)
