"""When samples count after a change of the limiter."""

import pytest

from rogue.agent.core.feedback_loop import HoldOff, Phase
from rogue.agent.core.window import NO_EPOCH

SEGMENT = 65_536


def posted_while_held(hold_off: HoldOff) -> int:
    """Number of segments that go out before the gate either closes or lets samples count."""
    segments = 0
    while hold_off.admits(is_idle=False) and hold_off.phase is Phase.HOLDING:
        assert hold_off.on_post(SEGMENT) == NO_EPOCH
        segments += 1
    return segments


def test_worked_example() -> None:
    """160 000 bytes are three segments; then the queue pair runs empty, and the next batch counts."""
    hold_off = HoldOff(160_000, needs_anchor=True)
    hold_off.restart()
    assert posted_while_held(hold_off) == 3
    assert hold_off.phase is Phase.DRAINING
    assert not hold_off.admits(is_idle=False)
    assert hold_off.admits(is_idle=True)
    assert hold_off.on_post(SEGMENT) == hold_off.epoch
    assert hold_off.admits(is_idle=False), "once anchored, batches flow"


@pytest.mark.parametrize(("hold_off_bytes", "segments"), [(SEGMENT, 1), (SEGMENT + 1, 2)])
def test_it_lasts_to_the_last_byte(hold_off_bytes: int, segments: int) -> None:
    hold_off = HoldOff(hold_off_bytes, needs_anchor=True)
    hold_off.restart()
    assert posted_while_held(hold_off) == segments


def test_without_an_anchor_nothing_is_drained() -> None:
    hold_off = HoldOff(160_000, needs_anchor=False)
    hold_off.restart()
    assert posted_while_held(hold_off) == 3
    assert hold_off.on_post(SEGMENT) == hold_off.epoch


def test_samples_count_before_the_limiter_is_ever_written() -> None:
    hold_off = HoldOff(160_000, needs_anchor=True)
    assert hold_off.admits(is_idle=True)
    assert hold_off.on_post(SEGMENT) == hold_off.epoch


def test_another_write_starts_all_over_in_a_new_epoch() -> None:
    hold_off = HoldOff(160_000, needs_anchor=True)
    hold_off.restart()
    hold_off.on_post(SEGMENT)
    epoch = hold_off.epoch
    hold_off.restart()
    assert hold_off.epoch != epoch
    assert posted_while_held(hold_off) == 3


def test_a_write_while_sampling_makes_batches_on_the_way_worthless() -> None:
    hold_off = HoldOff(0, needs_anchor=False)
    hold_off.restart()
    hold_off.admits(is_idle=True)
    on_the_way = hold_off.on_post(SEGMENT)
    assert on_the_way == hold_off.epoch
    hold_off.restart()
    assert on_the_way != hold_off.epoch


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("is_idle", [False, True])
def test_the_gate_is_closed_while_draining_a_busy_queue_pair_and_while_paused(
    phase: Phase, is_idle: bool
) -> None:
    hold_off = HoldOff(160_000, needs_anchor=True)
    hold_off.restart()
    hold_off.phase = phase
    is_open = hold_off.admits(is_idle=is_idle)
    assert is_open == (phase is not Phase.PAUSED and (phase is not Phase.DRAINING or is_idle))
    assert hold_off.phase is (Phase.SAMPLING if phase is Phase.DRAINING and is_idle else phase)


def test_a_pause_ends_only_when_it_is_ended_and_with_a_hold_off() -> None:
    hold_off = HoldOff(100_000, needs_anchor=False)
    hold_off.pause()
    hold_off.restart()
    assert hold_off.phase is Phase.PAUSED, "a change of the limiter does not end it"
    epoch = hold_off.epoch
    hold_off.resume()
    assert posted_while_held(hold_off) == 2
    assert hold_off.epoch > epoch
