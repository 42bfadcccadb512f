"""The sender of a TCP: windows, recovery and timeouts, step by step."""

import pytest
from rogue.simulator._reference import Requester

SEGMENT_BYTES = 1460
MICROSECOND_PS = 1_000_000
MILLISECOND_PS = 10**9


class Connection:
    """A sending half whose segments leave a microsecond apart; acknowledgements come when the test says."""

    def __init__(self, name: str = "reno", segments: int = 100, **parameters: float) -> None:
        self.requester = Requester(name, mtu_bytes=SEGMENT_BYTES, parameters=parameters)
        self.now_ps = 0
        self.post(segments)

    def post(self, segments: int) -> None:
        self.requester.post(segments * SEGMENT_BYTES)

    def send(self) -> int | None:
        self.now_ps += MICROSECOND_PS
        return self.requester.send(self.now_ps)

    def send_all(self) -> list[int]:
        """Send what may be sent; return the numbers."""
        numbers = []
        while (number := self.send()) is not None:
            numbers.append(number)
        return numbers

    def take(self, number: int, *blocks: tuple[int, int], is_echo: bool = False) -> None:
        """Take an acknowledgement 100 us later."""
        self.now_ps += 100 * MICROSECOND_PS
        assert self.requester.on_acknowledgement(
            now_ps=self.now_ps, expected=number, selective=list(blocks), echoes_mark=is_echo
        )

    def acknowledge(self, number: int, *blocks: tuple[int, int], is_echo: bool = False) -> list[int]:
        """Take an acknowledgement, and send what may be sent."""
        self.take(number, *blocks, is_echo=is_echo)
        return self.send_all()

    def time_out(self) -> list[int]:
        assert self.requester.deadline_ps is not None
        self.now_ps = max(self.now_ps, self.requester.deadline_ps)
        assert self.requester.on_deadline(self.now_ps)
        return self.send_all()

    def metric(self, name: str) -> float:
        return self.requester.metrics()[name]

    @property
    def window(self) -> float:
        return self.metric("window_bytes") / SEGMENT_BYTES

    @property
    def in_flight(self) -> float:
        return self.metric("in_flight_bytes") / SEGMENT_BYTES


def test_the_initial_window_then_two_for_each_acknowledgement() -> None:
    connection = Connection()
    assert connection.send_all() == list(range(10))
    assert connection.acknowledge(2) == [10, 11, 12, 13]
    assert connection.in_flight == 12


def test_segments_end_with_their_transfer() -> None:
    requester = Requester("reno", mtu_bytes=SEGMENT_BYTES)
    requester.post(2000)
    requester.post(1)
    sent = []
    while (packet := requester.next_packet) is not None:
        sent.append((packet["number"], packet["payload_bytes"], packet["is_last"]))
        requester.send(10)
    assert sent == [(0, 1460, False), (1, 540, True), (2, 1, True)]
    requester.on_acknowledgement(now_ps=20, expected=3)
    assert requester.acknowledged == 3
    assert requester.deadline_ps is None


def test_the_receivers_window_bounds_what_is_not_acknowledged() -> None:
    connection = Connection(receive_window_bytes=7 * SEGMENT_BYTES)
    assert connection.send_all() == list(range(7))
    assert connection.acknowledge(1) == [7]


def test_the_timeout_follows_the_round_trip() -> None:
    """RFC 6298: 3 r after the first sample r; then 7/8 and 3/4 of the old values."""
    requester = Requester(
        "reno", mtu_bytes=SEGMENT_BYTES, parameters={"rto_min_ns": 1000, "delayed_ack_ns": 1}
    )
    requester.post(2 * SEGMENT_BYTES)
    requester.send(0)
    requester.on_acknowledgement(now_ps=80 * MICROSECOND_PS, expected=1)
    assert requester.metrics()["rto_ps"] == (80 + 4 * 40) * MICROSECOND_PS
    requester.send(100 * MICROSECOND_PS)
    requester.on_acknowledgement(now_ps=260 * MICROSECOND_PS, expected=2)
    assert requester.metrics()["srtt_ps"] == 90 * MICROSECOND_PS
    assert requester.metrics()["rto_ps"] == (90 + 4 * 50) * MICROSECOND_PS


def test_a_lost_segment_is_sent_again_after_three_blocks_beyond_it() -> None:
    """Segment 10 is lost; after three blocks beyond it, it goes again, at half the window."""
    connection = Connection()
    connection.send_all()
    for number in range(2, 11, 2):
        connection.acknowledge(number)
    assert connection.window == 20
    assert connection.acknowledge(10, (11, 12)) == [30]
    assert connection.acknowledge(10, (11, 13)) == [31]
    assert connection.acknowledge(10, (11, 14)) == [10]
    assert connection.metric("is_recovering")
    assert connection.window == 11  # half of the 22 that were not acknowledged


def in_recovery(segments: int = 100) -> Connection:
    """Segments 0 to 9 sent, 0 lost, 1 to 3 came."""
    connection = Connection(segments=segments)
    connection.send_all()
    sent = [connection.acknowledge(0, (1, n)) for n in (2, 3, 4)]
    assert sent == [[10], [11], [0]]
    assert connection.window == 6
    return connection


def test_in_recovery_new_segments_go_as_others_leave() -> None:
    """Eight are in flight (4 to 11 and 0 again): three must leave before one may go."""
    connection = in_recovery()
    assert connection.in_flight == 9
    assert [connection.acknowledge(0, (1, n)) for n in (5, 6, 7, 8)] == [[], [], [], [12]]


def test_recovery_ends_when_all_that_was_sent_before_is_acknowledged() -> None:
    connection = in_recovery()
    connection.acknowledge(4)
    assert connection.metric("is_recovering")
    connection.acknowledge(12)
    assert not connection.metric("is_recovering")
    assert connection.window == 6


def test_every_hole_is_sent_once() -> None:
    """0, 2 and 4 are lost; their repairs go in order as there is room."""
    connection = Connection()
    connection.send_all()
    assert connection.acknowledge(0, (1, 2)) == [10]
    assert connection.acknowledge(0, (3, 4), (1, 2)) == [11]
    assert connection.acknowledge(0, (5, 6), (3, 4), (1, 2)) == [0]
    sent = [connection.acknowledge(0, (5, n), (3, 4), (1, 2)) for n in range(7, 13)]
    assert [number for numbers in sent for number in numbers] == [2, 4, 12, 13, 14]
    assert connection.acknowledge(12) != []
    assert connection.requester.retransmitted_packets == 3


def test_the_last_segments_are_rescued_without_a_timeout() -> None:
    """0 and 9, the last one, are lost: no block lies beyond 9, but nothing else is left to send."""
    connection = Connection(segments=10)
    connection.send_all()
    connection.acknowledge(0, (1, 2))
    connection.acknowledge(0, (1, 3))
    assert connection.acknowledge(0, (1, 4)) == [0]
    sent = [connection.acknowledge(0, (1, n)) for n in range(5, 10)]
    assert [number for numbers in sent for number in numbers] == [9]
    connection.acknowledge(10)
    assert connection.requester.acknowledged == 10
    assert connection.requester.timeouts == 0


def test_three_duplicates_of_small_segments_count_as_three_segments() -> None:
    """Blocks of a few bytes never cover more than two full segments."""
    connection = Connection(segments=0)
    for _ in range(4):
        connection.requester.post(10)
    assert connection.send_all() == [0, 1, 2, 3, 4]
    connection.acknowledge(1)
    assert [connection.acknowledge(1, (2, end)) for end in (3, 4, 5)] == [[], [], [1]]


def test_newreno_repairs_one_hole_per_round_trip() -> None:
    """RFC 6582: the partial acknowledgement of 3 says that 3 is also missing."""
    connection = Connection(sack=0)
    connection.send_all()
    assert [connection.acknowledge(0) for _ in range(3)] == [[10], [11], [0]]
    assert connection.window == 6
    assert connection.acknowledge(3)[0] == 3
    assert connection.metric("is_recovering")
    assert connection.acknowledge(12) != []
    assert not connection.metric("is_recovering")
    assert connection.requester.retransmitted_packets == 2


def test_after_a_timeout_everything_goes_again_in_slow_start() -> None:
    connection = Connection()
    connection.send_all()
    assert connection.requester.deadline_ps == MICROSECOND_PS + 200 * MILLISECOND_PS
    assert connection.time_out() == [0]
    assert connection.window == 1
    assert connection.acknowledge(1) == [1, 2]
    assert connection.acknowledge(3) == [3, 4, 5, 6]
    assert connection.metric("threshold_bytes") == 5 * SEGMENT_BYTES


def test_what_blocks_cover_is_not_sent_again_after_a_timeout() -> None:
    connection = Connection(segments=6)
    connection.send_all()
    connection.acknowledge(0, (1, 2))
    connection.acknowledge(0, (3, 4), (1, 2))
    assert connection.time_out() == [0]
    assert connection.acknowledge(2, (3, 4)) == [2, 4, 5]


def test_timeouts_double_until_a_round_trip_is_measured() -> None:
    connection = Connection(segments=5)
    connection.send_all()
    waits = []
    for _ in range(3):
        connection.time_out()
        assert connection.requester.deadline_ps is not None
        waits.append((connection.requester.deadline_ps - connection.now_ps) // MILLISECOND_PS)
    assert waits == [399, 799, 1599]
    connection.acknowledge(1)  # of a segment that was sent again: it measures nothing
    assert connection.metric("rto_ps") == 1600 * MILLISECOND_PS


def test_retries_run_out() -> None:
    connection = Connection(retries=2)
    connection.send_all()
    connection.time_out()
    connection.time_out()
    assert not connection.requester.on_deadline(connection.now_ps)


def test_without_blocks_duplicates_of_what_a_timeout_repeated_repair_nothing() -> None:
    """0 to 9 are sent again for nothing: 10, which ends that, comes five times. 11 is beyond it.

    Source: RFC 6582, section 3.2, step 2.
    """
    connection = Connection(sack=0)
    connection.send_all()
    connection.time_out()
    for _ in range(5):
        connection.acknowledge(10)
    assert not connection.metric("is_recovering")
    for _ in range(4):
        connection.acknowledge(11)
    assert connection.metric("is_recovering")


def test_marks_reduce_once_per_window_and_hold_the_window() -> None:
    """0 to 9 are sent: the first echo halves (alpha is 1); echoes up to 10 do nothing more, nothing grows.

    The echo with 10 speaks of 9, which left before the reduction. Source: RFC 8257, section 3.3.
    """
    connection = Connection("dctcp")
    connection.send_all()
    for number in (2, 4, 6, 8, 10):
        connection.acknowledge(number, is_echo=True)
        assert (connection.window, connection.metric("reductions")) == (5, 1)
    connection.acknowledge(11, is_echo=True)
    assert (connection.window, connection.metric("reductions")) == (2.5, 2)


def test_the_first_new_segment_after_a_reduction_carries_cwr() -> None:
    """Of a window cut to five, with four in flight, one segment may go: it has CWR, the next one has not."""
    connection = Connection("dctcp")
    connection.send_all()
    flags = []
    for number, is_echo in ((6, True), (8, False)):
        connection.take(number, is_echo=is_echo)
        assert connection.requester.next_packet is not None
        flags.append(connection.requester.next_packet["has_reduced"])
        connection.send()
    assert flags == [True, False]


@pytest.mark.parametrize("name", ["reno", "cubic", "iwarp"])
def test_a_latched_echo_reduces_once_until_the_receiver_has_seen_that(name: str) -> None:
    """0 to 9 are sent. The echo continues until 10 arrives, which has CWR; later marks are new."""
    connection = Connection(name, ecn=1)
    connection.send_all()
    for number in (2, 4, 6, 8, 10):
        connection.acknowledge(number, is_echo=True)
        assert connection.metric("reductions") == 1
    connection.acknowledge(11, is_echo=True)
    assert connection.metric("reductions") == 2


@pytest.mark.parametrize(("parameters", "says"), [({"ecn": 1}, True), ({}, False)], ids=str)
def test_the_first_new_segment_after_a_timeout_carries_cwr(parameters: dict[str, float], says: bool) -> None:
    """And an echo of what had been sent by then reduces nothing more. Source: RFC 3168, section 6.1.2."""
    connection = Connection(**parameters)
    connection.send_all()
    connection.time_out()
    connection.take(10, is_echo=True)
    assert connection.metric("reductions") == 0
    packet = connection.requester.next_packet
    assert packet is not None
    assert (packet["number"], packet["has_reduced"]) == (10, says)


def test_a_window_that_is_not_used_does_not_grow() -> None:
    """Two segments at a time, of a window of ten."""
    connection = Connection(segments=2)
    for _ in range(5):
        number = connection.send_all()[-1]
        connection.acknowledge(number + 1)
        connection.post(2)
    assert connection.window == 10


@pytest.mark.parametrize(("pause_ms", "window"), [(100, 28), (300, 10)])
def test_after_a_long_pause_the_window_starts_again(pause_ms: int, window: int) -> None:
    """Source: RFC 5681, section 4.1: longer than a retransmission timeout, which is 200 ms."""
    connection = Connection(segments=30)
    connection.send_all()
    for number in range(2, 31, 2):
        connection.acknowledge(number)
    assert connection.window == 28
    connection.now_ps += pause_ms * MILLISECOND_PS
    connection.post(1)
    connection.send_all()
    assert connection.window == window


def test_cubic_grows_by_no_pause() -> None:
    """Of 100 segments one is lost, which leaves 70. Half a minute of silence adds nothing."""
    connection = Connection("cubic", segments=100, initial_window_segments=100)
    connection.send_all()
    connection.acknowledge(0, (1, 100))
    connection.acknowledge(100)
    assert connection.window == 70
    first = 100
    for pause_s in (0, 30):
        connection.now_ps += pause_s * 1000 * MILLISECOND_PS
        connection.post(140)
        connection.send_all()
        for number in range(first + 2, first + 142, 2):
            connection.acknowledge(number)
        first += 140
        assert 70 < connection.window < 75
