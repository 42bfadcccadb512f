"""Tests: sources of timestamps, and when batches leave the host."""

import pytest
from helpers.fake_verbs_device import Context, FakeError

from rogue.agent.core.actions import SUCCESS, Completion
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.clock import Departures, NicClock, PairedClock
from rogue.agent.drivers.verbs.pyverbs import VerbsError


def test_both_host_readings_are_of_one_monotonic_clock() -> None:
    readings = [clock.nic_ns(), clock.host_ns(), clock.nic_ns()]
    assert readings == sorted(readings)


def test_cycles_worked_example() -> None:
    """427 MHz: 427 cycles are a microsecond."""
    nic = NicClock(Context("mlx5_0", has_clock=True), 1, FakeError)
    assert nic.of_cycles(427) == 1_000
    assert nic.of_cycles(427 * 10**12) == 10**15


def test_the_counter_is_read_through_the_device() -> None:
    nic = NicClock(Context("mlx5_0", has_clock=True, cycles=426_999), 1, FakeError)
    assert nic.now() == 427_001 * 10**6 // 427_000


MLX4_MASK = 2**48 - 1


def test_a_timestamp_of_48_bits_beside_a_counter_of_64_worked_example() -> None:
    """The counter is 1000 below its third round of 48 bits; 427 cycles are a microsecond."""
    start = 3 * 2**48 - 1_000
    nic = NicClock(
        Context("mlx5_0", has_clock=True, cycles=start - 1, timestamp_mask=MLX4_MASK), 1, FakeError
    )
    posted_ns = nic.now()
    assert posted_ns == (start + 1) * 10**6 // 427_000
    before = nic.of_cycles((start + 1 + 427) & MLX4_MASK)
    after = nic.of_cycles((start + 1 + 427 * 10) & MLX4_MASK)
    assert (before - posted_ns, after - posted_ns) == (1_000, 10_000)
    assert (start + 1 + 427 * 10) & MLX4_MASK == 3_271, "it has come round"


def test_a_timestamp_may_be_older_than_the_last_reading() -> None:
    """A completion is stamped before the clock is read for the next post, here across the round."""
    context = Context("mlx5_0", has_clock=True, cycles=5 * 2**48, timestamp_mask=MLX4_MASK)
    nic = NicClock(context, 1, FakeError)
    now_ns = nic.now()
    assert now_ns - nic.of_cycles(2**48 + 2 - 427 * 3) == 3_000


def test_a_timestamp_is_within_half_a_round() -> None:
    nic = NicClock(Context("mlx5_0", has_clock=True, timestamp_mask=0b111), 1, FakeError)
    nic.of_cycles(0)
    assert [nic.of_cycles(cycles) for cycles in (3, 6, 1, 5)] == [
        cycles * 10**6 // 427_000 for cycles in (3, 6, 9, 5)
    ]


class WithoutFrequency(Context):
    def query_rt_values_ex(self, mask: int) -> tuple[int, int]:
        return 0, 5


@pytest.mark.parametrize(
    ("context", "problem"),
    [
        (Context("mlx5_0", has_clock=True, timestamp_mask=0), "does not report the bits of its timestamps"),
        (Context("rxe0"), r"ibv_query_rt_values_ex: .*Errno: 95"),
        (WithoutFrequency("mlx5_0"), "does not report its clock's frequency"),
    ],
)
def test_a_nic_without_a_usable_clock_is_an_error(context: Context, problem: str) -> None:
    with pytest.raises(VerbsError, match=problem):
        NicClock(context, 1, FakeError)


class TwoClocks:
    """A host's clock, and a NIC's that is ahead and a tenth faster; reading takes time."""

    def __init__(self) -> None:
        self.host_ns, self.nic_reads, self.reading_ns = 0, 0, 2_000

    def host(self) -> int:
        return self.host_ns

    def nic(self) -> NicNs:
        self.nic_reads += 1
        self.host_ns += self.reading_ns // 2
        nic_ns = 5_000_000 + self.host_ns + self.host_ns // 10
        self.host_ns += self.reading_ns - self.reading_ns // 2
        return NicNs(nic_ns)


def test_paired_worked_example() -> None:
    """Paired at 1 us, when the NIC is at 5 001.1 us; 100 us later it is read from the host's clock."""
    clocks = TwoClocks()
    paired = PairedClock(clocks.nic, clocks.host)
    assert clocks.host_ns == 2_000
    assert paired.now() == 5_002_100
    clocks.host_ns = 102_000
    assert paired.now() == 5_102_100
    assert clocks.nic_reads == 1


def test_a_pair_is_renewed_after_a_millisecond() -> None:
    clocks = TwoClocks()
    paired = PairedClock(clocks.nic, clocks.host)
    clocks.host_ns = 1_001_999
    paired.now()
    assert clocks.nic_reads == 1
    clocks.host_ns = 1_002_000
    assert paired.now() == 5_000_000 + 1_003_000 + 100_300 + 1_000
    assert clocks.nic_reads == 2


@pytest.mark.parametrize(("slow_reads", "reads", "ahead_ns"), [(1, 2, 5_001_100), (5, 3, 5_000_500)])
def test_the_narrowest_of_interrupted_pairs_counts(slow_reads: int, reads: int, ahead_ns: int) -> None:
    """The first takes 10 us. Worked: one of 2 us follows, around 11; or two follow that take longer still."""
    clocks = TwoClocks()

    def nic() -> NicNs:
        clocks.reading_ns = 2_000 if clocks.nic_reads >= slow_reads else 10_000 + clocks.nic_reads * 5_000
        return clocks.nic()

    paired = PairedClock(nic, clocks.host)
    assert clocks.nic_reads == reads
    assert paired.now() == clocks.host_ns + ahead_ns


RATE_BPS = 2_000_000_000
BYTES = 25_000
"""100 us at 2 Gb/s."""
US = 1_000


def completed(wr_id: int, at_us: int) -> Completion:
    return wr_id, SUCCESS, NicNs(at_us * US), 0, None


def dates_us(departures: Departures, *completions: Completion) -> list[float]:
    return [nic_ns / US for _, _, nic_ns, _, _ in departures.dated(list(completions))]


def posted(*wr_ids: int, at_us: int = 0) -> Departures:
    departures = Departures()
    departures.on_rate(HostNs(0), RATE_BPS)
    for wr_id in wr_ids:
        departures.on_post(HostNs(at_us * US), wr_id, BYTES, is_signaled=True)
    return departures


def test_worked_example() -> None:
    """Two batches of 100 us are posted at 10 us, and called sent at 11 us: they leave at 110 and 210 us."""
    assert dates_us(posted(1, 2, at_us=10), completed(1, 11), completed(2, 11)) == [110, 210]


def test_a_new_rate_applies_to_what_has_not_left() -> None:
    """At 150 us half of the second batch is left; at half the rate that takes 100 us, and the third 200."""
    departures = posted(1, 2)
    assert dates_us(departures, completed(1, 1)) == [100]
    departures.on_rate(HostNs(150 * US), RATE_BPS // 2)
    departures.on_post(HostNs(150 * US), 3, BYTES, is_signaled=True)
    assert dates_us(departures, completed(2, 151), completed(3, 151)) == [250, 450]


def test_unsignalled_verbs_count() -> None:
    departures = posted()
    departures.on_post(HostNs(0), 7, BYTES, is_signaled=False)
    departures.on_post(HostNs(0), 8, BYTES, is_signaled=True)
    assert dates_us(departures, completed(8, 1)) == [200]
    departures.on_post(HostNs(500 * US), 9, BYTES, is_signaled=True)
    assert dates_us(departures, completed(9, 501)) == [600], "idle time is not made up for"


def test_late_and_unknown_completions_keep_their_times() -> None:
    """Unknown is also one that comes twice."""
    departures = posted(1, 2)
    arrived = completed(9, 3), completed(1, 4), completed(1, 5), completed(2, 230)
    assert dates_us(departures, *arrived) == [3, 100, 5, 230]
