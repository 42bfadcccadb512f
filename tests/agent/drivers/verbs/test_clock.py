"""Tests: sources of timestamps, and when batches leave the host."""

import pytest
from helpers.fake_verbs_device import Context, FakeError

from rogue.agent.core.actions import SUCCESS, Completion
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.clock import Departures, NicClock, PairedClock
from rogue.agent.drivers.verbs.pyverbs import VerbsError


def test_both_readings_of_the_host_are_of_one_clock_that_never_goes_back() -> None:
    readings = [clock.nic_ns(), clock.host_ns(), clock.nic_ns()]
    assert readings == sorted(readings)


def test_cycles_worked_example() -> None:
    """427 MHz: 427 cycles are a microsecond."""
    nic = NicClock(Context("mlx5_0", has_clock=True), 1, FakeError)
    assert nic.of_cycles(427) == 1_000
    assert nic.of_cycles(427 * 10**12) == 10**15


def test_the_counter_is_read_through_the_device() -> None:
    context = Context("mlx5_0", has_clock=True, cycles=426_999)
    nic = NicClock(context, 1, FakeError)
    assert nic.now() == (427_001 * 10**6) // 427_000


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


def test_a_timestamp_may_be_older_than_what_was_read_last() -> None:
    """A completion is stamped before the clock is read for the next post, here across the round."""
    context = Context("mlx5_0", has_clock=True, cycles=5 * 2**48, timestamp_mask=MLX4_MASK)
    nic = NicClock(context, 1, FakeError)
    now_ns = nic.now()
    assert now_ns - nic.of_cycles(2**48 + 2 - 427 * 3) == 3_000


def test_half_a_round_is_as_far_as_a_timestamp_reaches() -> None:
    nic = NicClock(Context("mlx5_0", has_clock=True, timestamp_mask=0b111), 1, FakeError)
    nic.of_cycles(0)
    assert [nic.of_cycles(cycles) for cycles in (3, 6, 1, 5)] == [
        cycles * 10**6 // 427_000 for cycles in (3, 6, 9, 5)
    ]


def test_a_nic_that_stamps_nothing_has_no_clock() -> None:
    with pytest.raises(VerbsError, match="does not report the bits of its timestamps"):
        NicClock(Context("mlx5_0", has_clock=True, timestamp_mask=0), 1, FakeError)


def test_a_nic_without_a_clock_says_so() -> None:
    with pytest.raises(VerbsError, match=r"ibv_query_rt_values_ex: .*Errno: 95"):
        NicClock(Context("rxe0"), 1, FakeError)


def test_a_clock_without_a_frequency_is_no_clock() -> None:
    class Odd(Context):
        def query_rt_values_ex(self, mask: int) -> tuple[int, int]:
            return 0, 5

    with pytest.raises(VerbsError, match="does not report its clock's frequency"):
        NicClock(Odd("mlx5_0"), 1, FakeError)


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
def test_of_pairs_that_were_interrupted_the_narrowest_counts(
    slow_reads: int, reads: int, ahead_ns: int
) -> None:
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


def test_a_new_rate_acts_on_what_has_not_left() -> None:
    """At 150 us half of the second batch is left; at half the rate that takes 100 us, and the third 200."""
    departures = posted(1, 2)
    assert dates_us(departures, completed(1, 1)) == [100]
    departures.on_rate(HostNs(150 * US), RATE_BPS // 2)
    departures.on_post(HostNs(150 * US), 3, BYTES, is_signaled=True)
    assert dates_us(departures, completed(2, 151), completed(3, 151)) == [250, 450]


def test_verbs_without_a_signal_take_their_time_too() -> None:
    departures = posted()
    departures.on_post(HostNs(0), 7, BYTES, is_signaled=False)
    departures.on_post(HostNs(0), 8, BYTES, is_signaled=True)
    assert dates_us(departures, completed(8, 1)) == [200]


def test_idle_time_is_not_made_up_for() -> None:
    departures = posted(1)
    departures.on_post(HostNs(500 * US), 2, BYTES, is_signaled=True)
    assert dates_us(departures, completed(1, 1), completed(2, 501)) == [100, 600]


def test_what_comes_later_than_that_is_taken_as_it_is() -> None:
    assert dates_us(posted(1), completed(1, 130)) == [130]


def test_what_was_never_posted_here_is_left_alone() -> None:
    """Other completions keep their times, also one that comes twice."""
    departures = posted(1)
    assert dates_us(departures, completed(9, 3), completed(1, 4), completed(1, 5)) == [3, 100, 5]
