"""RTT estimators: worked examples, and the contract of the registry."""

import random
from itertools import pairwise
from statistics import median

import pytest
from helpers.fake_nic import PS_PER_S, FakeDriver, FakeNic
from hypothesis import given
from hypothesis import strategies as st

from rogue.agent.core.actions import TransferDone
from rogue.agent.core.clocks import NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.estimators import ESTIMATORS
from rogue.agent.core.estimators.ablations import Literal, NicTxStamp, Noisy
from rogue.agent.core.estimators.drained import Drained, DrainedFollowers
from rogue.agent.core.estimators.uc import Uc
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.settings import Instruments
from rogue.agent.core.transports import settings_for
from rogue.agent.core.window import Batch

GBPS = 10**9
START_NS = 5_000_000


def batch_at(
    enqueued_ns: int,
    *,
    is_anchored: bool = False,
    is_followed: bool = False,
    rate_bps: int = 2 * GBPS,
    signaled_before_ns: int | None = None,
) -> Batch:
    """A 64 KiB WRITE: 63 packets of 1106 bytes, of which the first has 16 more, and a last one of 1106."""
    batch = Batch()
    batch.wire_bytes, batch.last_packet_wire_bytes, batch.rate_bps = 70_800, 1106, rate_bps
    batch.enqueued_ns, batch.is_anchored, batch.is_followed = NicNs(enqueued_ns), is_anchored, is_followed
    batch.signaled_before_ns = None if signaled_before_ns is None else NicNs(signaled_before_ns)
    return batch


def test_drained_worked_example() -> None:
    """At 2 Gb/s the first 69 694 bytes take 278 776 ns; the last packet leaves in 884.8 ns at 10 Gb/s.

    Posted at 5 000 000, the anchored batch has left at 5 279 660.8. If it completes at 5 339 661 the RTT is
    60 000.2. The limiter lets the next packet go 1106 * 8 / 2 = 4424 ns after the start of the last, so
    3539.2 ns after its end: at 5 283 200. The second batch has left at 5 562 860.8, and completes at 5 632
    860.8 after 70 000.
    """
    estimator = Drained(10 * GBPS)
    assert estimator.sample(batch_at(START_NS, is_anchored=True), NicNs(5_339_661)) == pytest.approx(60_000.2)
    assert estimator.sample(batch_at(5_000_001), NicNs(5_632_861)) == pytest.approx(70_000.2)


def test_a_batch_posted_late_starts_when_it_is_posted() -> None:
    estimator = Drained(10 * GBPS)
    estimator.sample(batch_at(START_NS, is_anchored=True), NicNs(5_339_661))
    assert estimator.sample(batch_at(6_000_000), NicNs(6_350_000)) == pytest.approx(350_000 - 279_660.8)


def test_at_line_rate_there_are_no_gaps() -> None:
    """70 800 bytes at 10 Gb/s take 56 640 ns, batch behind batch."""
    estimator = Drained(10 * GBPS)
    anchor = batch_at(START_NS, is_anchored=True, rate_bps=10 * GBPS)
    assert estimator.sample(anchor, NicNs(START_NS + 56_640 + 7000)) == pytest.approx(7000)
    second = batch_at(START_NS, rate_bps=10 * GBPS)
    assert estimator.sample(second, NicNs(START_NS + 2 * 56_640 + 8000)) == pytest.approx(8000)


def test_a_sample_may_be_smaller_than_the_anchor() -> None:
    """The second batch left at 5 562 860.8, the third 3539.2 + 279 660.8 later."""
    estimator = Drained(10 * GBPS)
    assert estimator.sample(batch_at(START_NS, is_anchored=True), NicNs(5_339_661)) == pytest.approx(60_000.2)
    assert estimator.sample(batch_at(START_NS), NicNs(5_570_000)) == pytest.approx(7_139.2)
    assert estimator.sample(batch_at(START_NS), NicNs(5_910_000)) == pytest.approx(63_939.2)


def test_a_negative_estimate_counts_as_zero_once() -> None:
    estimator = Drained(10 * GBPS)
    estimator.sample(batch_at(START_NS, is_anchored=True), NicNs(5_339_661))
    assert estimator.sample(batch_at(START_NS), NicNs(5_550_000)) == 0
    assert estimator.sample(batch_at(START_NS), NicNs(5_910_000)) == pytest.approx(63_939.2)


def test_without_an_anchor_there_is_no_estimate() -> None:
    estimator = Drained(10 * GBPS)
    assert estimator.sample(batch_at(START_NS), NicNs(5_339_661)) is None
    estimator.sample(batch_at(START_NS, is_anchored=True), NicNs(5_339_661))
    estimator.on_rate_change()
    assert estimator.sample(batch_at(START_NS), NicNs(5_632_861)) is None


def test_the_origin_of_the_nic_clock_does_not_matter() -> None:
    for origin_ns in (0, 2**62):
        estimator = Drained(10 * GBPS)
        estimator.sample(batch_at(origin_ns, is_anchored=True), NicNs(origin_ns + 339_661))
        assert estimator.sample(batch_at(origin_ns), NicNs(origin_ns + 632_861)) == pytest.approx(70_000.2)


def run_over_exact_nic(seed: int, *, estimator: str = "drained", drift_ppm: int = 50) -> list[float]:
    """Errors in ns of the accepted samples of .3 s; the RTT is 60 us at first, then wanders up to 100 us."""
    rng = random.Random(seed)
    link = LinkFacts(10 * GBPS, 1024, rate_step_bps=100_000_000)
    nic = FakeNic(
        link,
        rtt_ps=lambda at_ps: 60_000_000 + max(0, at_ps - PS_PER_S // 200) // 50 % 40_000_000,
        offset_ns=rng.randrange(10**15),
        drift_ppm=drift_ppm,
        lag_bytes=lambda: rng.randrange(160_001),
    )
    settings = settings_for("rogue", link.line_rate_bps, {"estimator": estimator})
    connection = Connection(settings, link, qp_num=1, tracing=True)

    def repeat(done: TransferDone) -> None:
        connection.submit(Transfer(done.transfer_id + 1, 10_000_000))

    driver = FakeDriver(connection, nic, repeat)
    connection.submit(Transfer(1, 10_000_000))
    driver.run_until(3 * PS_PER_S // 10)
    accepted = [trace for trace in driver.traces if trace.sample.accepted]
    assert len(accepted) > 50
    assert len(driver.rates) > 10, "the limiter moved"
    return [trace.rtt_ns - nic.true_rtt_ns(trace.sample.wr_id) for trace in accepted]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("drift_ppm", [-50, 0, 50])
def test_estimates_are_exact_over_a_nic_with_a_lagging_limiter(seed: int, drift_ppm: int) -> None:
    """The remaining error is the drift of 60 us (3 ns) and the clock's resolution."""
    errors_ns = run_over_exact_nic(seed, drift_ppm=drift_ppm)
    assert max(abs(error) for error in errors_ns) <= 15


def test_the_papers_recursion_drifts_on_the_same_path() -> None:
    assert abs(median(run_over_exact_nic(1, estimator="literal"))) > 3000


PACED_NS = 70_800 * 8 / 2


def test_followers_worked_example() -> None:
    """Two batches of 283.2 us each at 2 Gb/s, RTTs 50 and 70 us: only the second one is a sample."""
    both = Drained(10 * GBPS), DrainedFollowers(10 * GBPS)
    gap_ns = 1106 * 8 / 2 - 1106 * 8 / 10
    for number, rtt_ns in ((1, 50_000), (2, 70_000)):
        completed_ns = NicNs(round(number * PACED_NS - gap_ns + rtt_ns))
        batch = batch_at(0, is_anchored=number == 1, is_followed=True)
        default_ns, follower_ns = (each.sample(batch, completed_ns) for each in both)
        assert default_ns == pytest.approx(rtt_ns, abs=1)
        assert follower_ns == (None if number == 1 else default_ns)


def test_an_anchor_without_followers_is_a_sample() -> None:
    samples = [
        kind(10 * GBPS).sample(batch_at(0, is_anchored=True), NicNs(400_000))
        for kind in (DrainedFollowers, Drained)
    ]
    assert samples[0] == samples[1] is not None
    assert DrainedFollowers(10 * GBPS).sample(batch_at(0), NicNs(400_000)) is None, "it needs an anchor"


def test_literal_worked_example() -> None:
    """70 800 bytes at 2 Gb/s take 283 200 ns.

    The first batch starts when posted: 343 200 - 0 - 283 200 = 60 000. The second was posted long before
    the first left, at 343 200 - 60 000 = 283 200, so 636 400 - 283 200 - 283 200 = 70 000.
    """
    estimator = Literal(10**10)
    assert estimator.sample(batch_at(0), NicNs(343_200)) == pytest.approx(60_000)
    assert estimator.sample(batch_at(1), NicNs(636_400)) == pytest.approx(70_000)


def test_literal_keeps_an_error_even_through_a_rate_change() -> None:
    """The NIC really sends at 4 Gb/s: each batch makes the estimate 141.6 us smaller, even negative."""
    estimator = Literal(10**10)
    samples = [estimator.sample(batch_at(0), NicNs(60_000 + n * 141_600)) for n in (1, 2)]
    estimator.on_rate_change()
    samples.append(estimator.sample(batch_at(0, rate_bps=4 * GBPS), NicNs(60_000 + 3 * 141_600)))
    assert samples == pytest.approx([-81_600, -223_200, -223_200])


def test_nic_tx_stamp_worked_example() -> None:
    """The last byte left at 1000.5 ns and the completion came at 63 000: 61 999.5 ns, whatever the rate."""
    estimator = NicTxStamp(10**10, Instruments(left_ns={7: 1000.5}.__getitem__))
    batch = Batch()
    batch.wr_id = 7
    assert estimator.sample(batch, NicNs(63_000)) == 61_999.5
    estimator.on_rate_change()
    assert estimator.sample(batch, NicNs(63_000)) == 61_999.5


SERIALISATION_NS = (70_800 - 1106) * 8 / 2 + 1106 * 8 / 10


def test_noisy_worked_example() -> None:
    """An RTT of 50 us with x = 40 us and the draws 0.25 and 0.75: 60 and 80 us. No sample, no draw."""
    noisy = Noisy(Drained(10 * GBPS), 40_000, iter([0.25, 0.75]).__next__)
    assert noisy.sample(batch_at(0), NicNs(9)) is None
    completed_ns = NicNs(round(SERIALISATION_NS) + 50_000)
    for expected_ns in (60_000, 80_000):
        assert noisy.sample(batch_at(0, is_anchored=True), completed_ns) == pytest.approx(expected_ns, abs=1)


def test_noise_does_not_enter_the_recursion() -> None:
    """The second batch starts where the first one really left, not where the noisy sample says."""
    clean, noisy = Drained(10 * GBPS), Noisy(Drained(10 * GBPS), 100_000, lambda: 0.5)
    first_ns, second_ns = (NicNs(round(each * SERIALISATION_NS) + 50_000) for each in (1, 2))
    for estimator in (clean, noisy):
        estimator.sample(batch_at(0, is_anchored=True), first_ns)
    clean_ns = clean.sample(batch_at(10), second_ns)
    assert clean_ns is not None
    assert noisy.sample(batch_at(10), second_ns) == clean_ns + 50_000


def test_uc_worked_example() -> None:
    """70 800 bytes at 2 Gb/s behind another batch that left at 100 us: 283.2 us, and then 50 us of RTT.

    An estimate does not depend on earlier ones.
    """
    estimator = Uc(10 * GBPS)
    estimator.sample(batch_at(0, signaled_before_ns=1), NicNs(10**9))
    batch = batch_at(10_000, signaled_before_ns=100_000)
    assert estimator.sample(batch, NicNs(100_000 + 283_200 + 50_000)) == 50_000
    late = NicNs(100_000 + 283_199)  # the completion before was read too late
    assert estimator.sample(batch, late) == 0


@pytest.mark.parametrize("before_ns", [None, 90_000, 100_000], ids=["alone", "earlier", "same instant"])
def test_uc_batch_on_an_idle_nic_starts_when_posted_and_ends_at_line_rate(before_ns: int | None) -> None:
    """69 694 bytes at 2 Gb/s and the last 1106 at 10 Gb/s: 278.776 + 0.8848 us."""
    batch = batch_at(100_000, signaled_before_ns=before_ns)
    sample_ns = Uc(10 * GBPS).sample(batch, NicNs(100_000 + 279_661 + 50_000))
    assert sample_ns == pytest.approx(50_000.2, abs=1e-6)


NAMES = sorted(ESTIMATORS)
LEFT_NS: dict[int, float] = {}
INSTRUMENTS = Instruments(left_ns=LEFT_NS.__getitem__)  # departure times, for the oracle only
WHOLE_SERIALISATION_NS = (70_800 - 1106) * 8 // 2 + 1106 * 8 // 10


def batches(rtts_ns: list[int]) -> list[tuple[Batch, NicNs]]:
    """Batches at 2 Gb/s, each posted when the one before has completed, with their completions."""
    result = []
    at_ns = 1000
    for rtt_ns in rtts_ns:
        batch = batch_at(at_ns, is_anchored=True)
        batch.wr_id = len(result) + 1
        LEFT_NS[batch.wr_id] = at_ns + WHOLE_SERIALISATION_NS
        at_ns += WHOLE_SERIALISATION_NS + rtt_ns
        result.append((batch, NicNs(at_ns)))
    return result


@pytest.mark.parametrize("name", NAMES)
@given(rtts_ns=st.lists(st.integers(10_000, 10_000_000), min_size=1, max_size=20))
def test_a_lone_batch_is_measured_to_within_one_packet_gap(name: str, rtts_ns: list[int]) -> None:
    one, other = (ESTIMATORS[name](10 * GBPS, INSTRUMENTS) for _ in range(2))
    for (batch, completed_ns), rtt_ns in zip(batches(rtts_ns), rtts_ns, strict=True):
        sample_ns = one.sample(batch, completed_ns)
        assert sample_ns == pytest.approx(rtt_ns, abs=1106 * 8 / 2)
        assert sample_ns == other.sample(batch, completed_ns)


@pytest.mark.parametrize("name", NAMES)
def test_a_rate_change_leaves_an_estimator_usable(name: str) -> None:
    estimator = ESTIMATORS[name](10 * GBPS, INSTRUMENTS)
    for (batch, completed_ns), _ in pairwise(batches([60_000, 70_000, 80_000])):
        estimator.on_rate_change()
        assert estimator.sample(batch, completed_ns) is not None


@pytest.mark.parametrize("name", NAMES)
def test_an_estimator_states_its_source(name: str) -> None:
    assert isinstance(ESTIMATORS[name].needs_anchor, bool)
    assert "Source:" in (ESTIMATORS[name].__doc__ or "")
