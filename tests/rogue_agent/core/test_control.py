"""Samples, window, limiter and hold-off together."""

from rogue_agent.core.batch import NO_EPOCH, Batch
from rogue_agent.core.clocks import NicNs
from rogue_agent.core.control import Control, SampleVerdict
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.transports import settings_for

GBPS, MBPS = 10**9, 10**6
CX3PRO = LinkFacts(10 * GBPS, 1024, rate_step_bps=100 * MBPS)
SEGMENT = 65_536


def control_over(link: LinkFacts = CX3PRO, **overrides: object) -> Control:
    return Control(settings_for("rogue", link.line_rate_bps, overrides), link)


def post(control: Control, nic_ns: int, *, is_idle: bool) -> Batch:
    batch = Batch()
    batch.payload_bytes, batch.wire_bytes, batch.last_packet_wire_bytes = SEGMENT, 70_800, 1106
    assert control.admits(is_idle=is_idle)
    control.on_post(batch, is_idle=is_idle)
    control.on_posted(batch, NicNs(nic_ns))
    return batch


def settle(control: Control, effective_bps: int) -> None:
    """Program the first rate, and post what the hold-off asks for."""
    assert control.next_rate() is not None
    control.on_rate_set(effective_bps)
    for _ in range(3):
        assert post(control, 0, is_idle=False).epoch == NO_EPOCH
    assert not control.admits(is_idle=False)


def completed_at(batch: Batch, rtt_ns: int) -> NicNs:
    """Completion of an anchored batch that found this RTT at its recorded rate."""
    left_ns = batch.enqueued_ns + (70_800 - 1106) * 8 * GBPS / batch.rate_bps + 1106 * 8 / 10
    return NicNs(round(left_ns + rtt_ns))


def test_the_first_rate_is_one_initial_window_per_floor() -> None:
    assert control_over().next_rate() == 1_769_600_000


def test_a_sample_after_the_hold_off_moves_window_and_rate() -> None:
    """RTT 52 us with 10 packets: slow start doubles, and the limiter may go up by 1 Gb/s."""
    control = control_over()
    settle(control, 1800 * MBPS)
    batch = post(control, 1_000_000, is_idle=True)
    assert batch.is_anchored
    rtt_ns, verdict = control.sample(batch, completed_at(batch, 52_000))
    assert verdict is SampleVerdict.ACCEPTED
    assert rtt_ns is not None
    assert abs(rtt_ns - 52_000) <= 1
    assert control.cc.cwnd_packets == 20
    assert control.next_rate() == 2800 * MBPS


def test_batches_of_the_hold_off_do_not_count() -> None:
    control = control_over()
    control.next_rate()
    control.on_rate_set(1800 * MBPS)
    batch = post(control, 0, is_idle=True)
    assert not batch.is_anchored
    assert control.sample(batch, NicNs(400_000)) == (None, SampleVerdict.HOLD_OFF)
    assert control.cc.cwnd_packets == 10


def test_a_batch_on_its_way_when_the_rate_changes_does_not_count() -> None:
    control = control_over(estimator="literal")
    control.next_rate()
    control.on_rate_set(1800 * MBPS)
    for _ in range(3):
        post(control, 0, is_idle=False)
    first, second = (post(control, 1_000_000, is_idle=False) for _ in range(2))
    assert control.sample(first, completed_at(first, 52_000))[1] is SampleVerdict.ACCEPTED
    assert control.next_rate() is not None
    assert control.sample(second, completed_at(second, 350_000))[1] is SampleVerdict.RATE_CHANGED
    assert control.cc.cwnd_packets == 20


def test_the_rate_of_a_batch_is_the_effective_one() -> None:
    control = control_over()
    assert control.next_rate() == 1_769_600_000
    control.on_rate_set(1800 * MBPS)
    assert post(control, 0, is_idle=True).rate_bps == 1800 * MBPS


def test_no_write_and_no_hold_off_when_the_effective_rate_stays() -> None:
    """16 packets want 2.83136 Gb/s, which the limiter at 2.9 would only round up to 2.9 again."""
    control = control_over(slow_start=False)
    settle(control, 2900 * MBPS)
    control.cc.cwnd_packets = 15
    batch = post(control, 1_000_000, is_idle=True)
    assert control.sample(batch, completed_at(batch, 50_000))[1] is SampleVerdict.ACCEPTED
    assert control.cc.cwnd_packets == 16
    assert control.next_rate() is None
    assert post(control, 1_300_000, is_idle=False).epoch == batch.epoch, "samples go on"


def test_a_rate_that_nobody_asked_for_starts_a_hold_off() -> None:
    control = control_over()
    settle(control, 1800 * MBPS)
    batch = post(control, 1_000_000, is_idle=True)
    control.on_rate_set(5 * GBPS)
    assert control.sample(batch, NicNs(2_000_000))[1] is SampleVerdict.RATE_CHANGED
    assert post(control, 2_000_000, is_idle=False).epoch == NO_EPOCH


def test_without_a_limiter_every_batch_counts_at_line_rate() -> None:
    control = control_over(LinkFacts(10 * GBPS, 1024, has_limiter=False))
    assert control.next_rate() is None
    batch = post(control, 1_000_000, is_idle=True)
    assert batch.rate_bps == 10 * GBPS
    assert control.sample(batch, completed_at(batch, 52_000))[1] is SampleVerdict.ACCEPTED
    assert control.next_rate() is None


def test_native_roce_has_no_estimator_and_no_rate() -> None:
    control = Control(settings_for("roce", 10 * GBPS, {}), CX3PRO)
    assert not control.has_estimator
    assert control.next_rate() is None
    assert control.admits(is_idle=False)


def test_a_limiter_that_rounds_above_the_line_leaves_the_line_rate() -> None:
    """Steps of 100 Mb/s on a line of 2.55 Gb/s: a rate of 2.6 Gb/s is one that the line does not carry."""
    control = control_over(LinkFacts(2_550 * MBPS, 1024, rate_step_bps=100 * MBPS))
    control.next_rate()
    control.on_rate_set(2_600 * MBPS)
    assert post(control, 0, is_idle=True).rate_bps == 2_550 * MBPS
    control.cc.cwnd_packets = 100
    assert control.next_rate() is None, "there is nothing faster to ask for"
