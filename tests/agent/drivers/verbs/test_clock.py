import pytest
from helpers.fake_verbs_device import Context, FakeError

from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.clock import NicClock
from rogue.agent.drivers.verbs.errors import VerbsError


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


def test_a_nic_without_a_clock_says_so() -> None:
    with pytest.raises(VerbsError, match=r"ibv_query_rt_values_ex: .*Errno: 95"):
        NicClock(Context("rxe0"), 1, FakeError)


def test_a_clock_without_a_frequency_is_no_clock() -> None:
    class Odd(Context):
        def query_rt_values_ex(self, mask: int) -> tuple[int, int]:
            return 0, 5

    with pytest.raises(VerbsError, match="does not tell its clock's frequency"):
        NicClock(Odd("mlx5_0"), 1, FakeError)
