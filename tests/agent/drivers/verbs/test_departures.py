from rogue.agent.core.actions import SUCCESS, Completion
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.verbs.clock import Departures

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
    """A completion of something else is of its own time, and so is one that comes twice."""
    departures = posted(1)
    assert dates_us(departures, completed(9, 3), completed(1, 4), completed(1, 5)) == [3, 100, 5]
