"""The default estimator against hand-worked numbers, and against an exact NIC with two clocks."""

import random
from statistics import median

import pytest
from helpers.fake_nic import PS_PER_S, FakeDriver, FakeNic

from rogue.agent.core.actions import TransferDone
from rogue.agent.core.clocks import NicNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.estimators.drained import Drained
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.segmentation import Transfer
from rogue.agent.core.transports import settings_for
from rogue.agent.core.window import Batch

GBPS = 10**9
START_NS = 5_000_000


def batch_at(enqueued_ns: int, *, is_anchored: bool = False, rate_bps: int = 2 * GBPS) -> Batch:
    """A 64 KiB WRITE: 63 packets of 1106 bytes, of which the first has 16 more, and a last one of 1106."""
    batch = Batch()
    batch.wire_bytes, batch.last_packet_wire_bytes = 70_800, 1106
    batch.enqueued_ns, batch.is_anchored, batch.rate_bps = NicNs(enqueued_ns), is_anchored, rate_bps
    return batch


def test_worked_example() -> None:
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


def test_a_better_sample_than_the_anchor_s_stands() -> None:
    """The second batch left at 5 562 860.8, the third 3539.2 + 279 660.8 later."""
    estimator = Drained(10 * GBPS)
    assert estimator.sample(batch_at(START_NS, is_anchored=True), NicNs(5_339_661)) == pytest.approx(60_000.2)
    assert estimator.sample(batch_at(START_NS), NicNs(5_570_000)) == pytest.approx(7_139.2)
    assert estimator.sample(batch_at(START_NS), NicNs(5_910_000)) == pytest.approx(63_939.2)


def test_an_estimate_below_zero_counts_as_zero_and_spoils_nothing() -> None:
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
    accepted = [trace for trace in driver.traces if trace.reason == "accepted"]
    assert len(accepted) > 50
    assert len(driver.rates) > 10, "the limiter moved"
    return [trace.rtt_ns - nic.true_rtt_ns(trace.wr_id) for trace in accepted]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("drift_ppm", [-50, 0, 50])
def test_estimates_are_exact_over_a_nic_with_a_lagging_limiter(seed: int, drift_ppm: int) -> None:
    """What is left is the drift of 60 us (3 ns) and the clock's resolution."""
    errors_ns = run_over_exact_nic(seed, drift_ppm=drift_ppm)
    assert max(abs(error) for error in errors_ns) <= 15


def test_the_papers_recursion_drifts_on_the_same_path() -> None:
    assert abs(median(run_over_exact_nic(1, estimator="literal"))) > 3000
