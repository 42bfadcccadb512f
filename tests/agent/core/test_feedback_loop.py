"""Tests: the feedback loop of a connection: RTT samples in, window and rate out."""

import pytest

from rogue.agent.core.cc import CongestionControl, Sample, Segments
from rogue.agent.core.cc.fixed import Fixed, FixedParameters
from rogue.agent.core.cc.vegas import Vegas
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.estimators.drained import Drained
from rogue.agent.core.feedback_loop import FeedbackLoop, HoldOff, Phase, SampleVerdict
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.transports import settings_for
from rogue.agent.core.window import NO_EPOCH, Batch

GBPS, MBPS = 10**9, 10**6
CX3PRO = LinkFacts(10 * GBPS, 1024, rate_step_bps=100 * MBPS)
SEGMENT = 65_536


def feedback_over(link: LinkFacts = CX3PRO, **overrides: object) -> FeedbackLoop:
    return FeedbackLoop(settings_for("rogue", link.line_rate_bps, overrides), link)


def post(feedback: FeedbackLoop, nic_ns: int, *, is_idle: bool) -> Batch:
    batch = Batch()
    batch.payload_bytes, batch.wire_bytes, batch.last_packet_wire_bytes = SEGMENT, 70_800, 1106
    assert feedback.admits(is_idle=is_idle)
    feedback.on_post(batch, is_idle=is_idle)
    feedback.on_posted(batch, NicNs(nic_ns))
    return batch


def settle(feedback: FeedbackLoop, effective_bps: int) -> None:
    """Program the first rate, and post what the hold-off asks for."""
    assert feedback.next_rate() is not None
    feedback.on_rate_set(effective_bps)
    for _ in range(3):
        assert post(feedback, 0, is_idle=False).epoch == NO_EPOCH
    assert not feedback.admits(is_idle=False)


def settle_without_anchor(feedback: FeedbackLoop) -> None:
    """The same for an estimator that needs no empty queue pair."""
    feedback.next_rate()
    feedback.on_rate_set(1800 * MBPS)
    for _ in range(3):
        post(feedback, 0, is_idle=False)


def sample(feedback: FeedbackLoop, batch: Batch, completed_ns: NicNs) -> tuple[float | None, SampleVerdict]:
    return feedback.sample(batch, completed_ns, HostNs(0), SEGMENT)


def completed_at(batch: Batch, rtt_ns: int) -> NicNs:
    """Completion of an anchored batch that found this RTT at its recorded rate."""
    left_ns = batch.enqueued_ns + (70_800 - 1106) * 8 * GBPS / batch.rate_bps + 1106 * 8 / 10
    return NicNs(round(left_ns + rtt_ns))


def test_the_first_rate_is_one_initial_window_per_floor() -> None:
    assert feedback_over().next_rate() == 1_769_600_000


def test_a_sample_after_the_hold_off_moves_window_and_rate() -> None:
    """RTT 52 us with 10 packets: slow start doubles, and the limiter may go up by 1 Gb/s."""
    feedback = feedback_over()
    settle(feedback, 1800 * MBPS)
    batch = post(feedback, 1_000_000, is_idle=True)
    assert batch.is_anchored
    rtt_ns, verdict = sample(feedback, batch, completed_at(batch, 52_000))
    assert verdict is SampleVerdict.ACCEPTED
    assert rtt_ns is not None
    assert abs(rtt_ns - 52_000) <= 1
    assert feedback.cc.cwnd_packets == 20
    assert feedback.next_rate() == 2800 * MBPS


def test_batches_of_the_hold_off_do_not_count() -> None:
    feedback = feedback_over()
    feedback.next_rate()
    feedback.on_rate_set(1800 * MBPS)
    batch = post(feedback, 0, is_idle=True)
    assert not batch.is_anchored
    assert sample(feedback, batch, NicNs(400_000)) == (None, SampleVerdict.HOLD_OFF)
    assert feedback.cc.cwnd_packets == 10


def test_a_batch_on_its_way_when_the_rate_changes_does_not_count() -> None:
    feedback = feedback_over(estimator="literal")
    settle_without_anchor(feedback)
    first, second = (post(feedback, 1_000_000, is_idle=False) for _ in range(2))
    assert sample(feedback, first, completed_at(first, 52_000))[1] is SampleVerdict.ACCEPTED
    assert feedback.next_rate() is not None
    assert sample(feedback, second, completed_at(second, 350_000))[1] is SampleVerdict.RATE_CHANGED
    assert feedback.cc.cwnd_packets == 20


def test_no_sample_counts_until_a_late_rate_is_effective() -> None:
    """The hold-off of three batches begins when the rate is known to act, whatever was posted before."""
    feedback = feedback_over(estimator="literal")
    settle_without_anchor(feedback)
    first = post(feedback, 1_000_000, is_idle=False)
    assert sample(feedback, first, completed_at(first, 52_000))[1] is SampleVerdict.ACCEPTED
    assert feedback.next_rate() == 2800 * MBPS
    feedback.on_rate_set(None)
    batches = [post(feedback, 2_000_000, is_idle=False) for _ in range(5)]
    verdicts = {sample(feedback, batch, completed_at(batch, 900_000))[1] for batch in batches}
    assert verdicts == {SampleVerdict.HOLD_OFF}
    assert {batch.rate_bps for batch in batches} == {1800 * MBPS}
    feedback.on_rate_set(2800 * MBPS)
    epochs = [post(feedback, 3_000_000, is_idle=False).epoch for _ in range(4)]
    assert [epoch == NO_EPOCH for epoch in epochs] == [True, True, True, False]


def test_a_rate_requested_while_another_is_late_is_late_too() -> None:
    feedback = feedback_over(estimator="literal")
    settle_without_anchor(feedback)
    feedback.cc.cwnd_packets = 20
    assert feedback.next_rate() == feedback.coming_rate_bps() == 2800 * MBPS
    feedback.on_rate_set(None)
    assert feedback.next_rate() is None, "it is requested already"
    feedback.cc.cwnd_packets = 10
    assert feedback.next_rate() == 1_769_600_000, "the effective rate stays"
    assert feedback.coming_rate_bps() == 1800 * MBPS
    batches = [post(feedback, 2_000_000, is_idle=False) for _ in range(5)]
    verdicts = {sample(feedback, batch, completed_at(batch, 52_000))[1] for batch in batches}
    assert verdicts == {SampleVerdict.HOLD_OFF}


def test_an_unchanged_effective_rate_needs_no_request_and_no_hold_off() -> None:
    """16 packets want 2.83136 Gb/s, which the limiter at 2.9 would only round up to 2.9 again."""
    feedback = feedback_over(slow_start=False)
    settle(feedback, 2900 * MBPS)
    feedback.cc.cwnd_packets = 15
    batch = post(feedback, 1_000_000, is_idle=True)
    assert sample(feedback, batch, completed_at(batch, 50_000))[1] is SampleVerdict.ACCEPTED
    assert feedback.cc.cwnd_packets == 16
    assert feedback.next_rate() is None
    assert post(feedback, 1_300_000, is_idle=False).epoch == batch.epoch, "samples continue"


def test_an_unrequested_rate_starts_a_hold_off() -> None:
    feedback = feedback_over()
    settle(feedback, 1800 * MBPS)
    batch = post(feedback, 1_000_000, is_idle=True)
    feedback.on_rate_set(5 * GBPS)
    assert sample(feedback, batch, NicNs(2_000_000))[1] is SampleVerdict.RATE_CHANGED
    assert post(feedback, 2_000_000, is_idle=False).epoch == NO_EPOCH


def test_without_a_limiter_every_batch_counts_at_line_rate() -> None:
    feedback = feedback_over(LinkFacts(10 * GBPS, 1024, has_limiter=False))
    assert feedback.next_rate() is None
    batch = post(feedback, 1_000_000, is_idle=True)
    assert batch.rate_bps == 10 * GBPS
    assert sample(feedback, batch, completed_at(batch, 52_000))[1] is SampleVerdict.ACCEPTED
    assert feedback.next_rate() is None


def test_a_sample_counts_bytes_acknowledged_since_the_previous_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what arrived in batches that did not count; then it starts from nothing."""
    feedback = feedback_over(LinkFacts(10 * GBPS, 1024, has_limiter=False))
    heard: list[Sample] = []
    monkeypatch.setattr(Vegas, "on_sample", lambda _, sample: heard.append(sample))
    for now_ns, uncounted_bytes in ((2_000_000, 3 * SEGMENT), (3_000_000, 0)):
        feedback.on_acknowledged(uncounted_bytes)
        batch = post(feedback, 1_000_000, is_idle=True)
        feedback.on_acknowledged(SEGMENT)
        feedback.sample(batch, completed_at(batch, 52_000), HostNs(now_ns), 2 * SEGMENT)
    assert [each[1:] for each in heard] == [
        (2_000_000, 4 * SEGMENT, 2 * SEGMENT),
        (3_000_000, SEGMENT, 2 * SEGMENT),
    ]
    assert [round(each.rtt_ns) for each in heard] == [52_000, 52_000]


def test_a_control_gets_the_segmentation(monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[Segments] = []

    def build(parameters: FixedParameters, link: LinkFacts, segments: Segments) -> CongestionControl:
        passed.append(segments)
        return Fixed(parameters)

    monkeypatch.setattr(FixedParameters, "build", build)
    feedback_over(cc="fixed", segment_bytes=16_384)
    assert passed == [Segments(batch_bytes=16_384, floor_bytes=32_768)]


def test_native_roce_has_no_estimator_and_no_rate() -> None:
    feedback = FeedbackLoop(settings_for("roce", 10 * GBPS, {}), CX3PRO)
    assert not feedback.has_estimator
    assert feedback.next_rate() is None
    assert feedback.admits(is_idle=False)


def test_a_limiter_that_rounds_beyond_the_line_rate_has_the_line_rate() -> None:
    """Steps of 100 Mb/s on a line of 2.55 Gb/s: a rate of 2.6 Gb/s is one that the line does not carry."""
    feedback = feedback_over(LinkFacts(2_550 * MBPS, 1024, rate_step_bps=100 * MBPS))
    feedback.next_rate()
    feedback.on_rate_set(2_600 * MBPS)
    assert post(feedback, 0, is_idle=True).rate_bps == 2_550 * MBPS
    feedback.cc.cwnd_packets = 100
    assert feedback.next_rate() is None, "there is nothing faster to ask for"


def test_the_estimator_discards_the_rate_when_it_changes_on_a_restart_and_on_another_limiter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    discarded: list[str] = []
    monkeypatch.setattr(Drained, "on_rate_change", lambda _self: discarded.append("rate"))
    feedback = feedback_over()
    feedback.next_rate()
    assert len(discarded) == 1
    feedback.restart()
    assert len(discarded) == 2
    feedback.on_turn(has_limiter=False)
    assert len(discarded) == 2
    feedback.on_turn(has_limiter=True)
    assert len(discarded) == 3


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


@pytest.mark.parametrize(("hold_off_bytes", "segments"), [(SEGMENT, 1), (SEGMENT + 1, 2), (160_000, 3)])
def test_hold_off_lasts_to_its_last_byte_and_drains_only_for_an_anchor(
    hold_off_bytes: int, segments: int
) -> None:
    hold_off = HoldOff(hold_off_bytes, needs_anchor=False)
    assert hold_off.admits(is_idle=True)
    assert hold_off.on_post(SEGMENT) == hold_off.epoch, "samples count before the first change"
    hold_off.restart()
    assert posted_while_held(hold_off) == segments
    assert hold_off.on_post(SEGMENT) == hold_off.epoch


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("is_idle", [False, True])
def test_nothing_is_admitted_while_draining_or_paused(phase: Phase, is_idle: bool) -> None:
    hold_off = HoldOff(160_000, needs_anchor=True)
    hold_off.restart()
    hold_off.phase = phase
    is_open = hold_off.admits(is_idle=is_idle)
    assert is_open == (phase is not Phase.PAUSED and (phase is not Phase.DRAINING or is_idle))
    assert hold_off.phase is (Phase.SAMPLING if phase is Phase.DRAINING and is_idle else phase)


def test_a_pause_ends_with_a_hold_off() -> None:
    hold_off = HoldOff(100_000, needs_anchor=False)
    hold_off.pause()
    hold_off.restart()
    assert hold_off.phase is Phase.PAUSED, "a change of the limiter does not end it"
    epoch = hold_off.epoch
    hold_off.resume()
    assert posted_while_held(hold_off) == 2
    assert hold_off.epoch > epoch
