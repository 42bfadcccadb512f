"""Choice of paths: all balancers at once, then each one with acknowledgements."""

from collections import Counter

import pytest
from rogue.simulator._reference import Requester

US = 1_000_000
OBLIVIOUS, BITMAP, REPS, MIXED = range(4)
PATHS = 16


class Paths:
    """A sender of one packet after the other, with acknowledgements for each path."""

    def __init__(self, balancer: int, paths: int = PATHS, seed: int = 1, **others: float) -> None:
        parameters = {"load_balancing": balancer, "nscc": 0, "window_packets": 1_000, **others}
        self._requester = Requester("uet", mtu_bytes=1_000, parameters=parameters)
        self._requester.post(1_000_000)
        self._requester.use_paths(seed, paths)
        self._sent = 0

    def next(self, count: int) -> list[int]:
        return [self._requester.next_path() for _ in range(count)]

    def told(self, path: int, *, is_marked: bool = False, is_trimmed: bool = False, at_us: int = 1) -> None:
        number = self._requester.send(0)
        assert number is not None
        self._requester.on_acknowledgement(
            now_ps=at_us * US,
            expected=0,
            bitmap=(0, 0, number, 0),
            is_negative=is_trimmed,
            echoes_mark=is_marked,
            entropy=path,
        )

    def times_out(self, at_us: int) -> None:
        if self._requester.deadline_ps is None:
            self._requester.send((at_us - 100) * US)
        self._requester.on_deadline(at_us * US)


@pytest.mark.parametrize("balancer", range(4))
def test_all_stay_within_the_paths_and_are_the_same_for_a_seed(balancer: int) -> None:
    assert Paths(balancer).next(200) == Paths(balancer).next(200)
    assert set(Paths(balancer).next(500)) == set(range(PATHS))


@pytest.mark.parametrize("balancer", [OBLIVIOUS, BITMAP, MIXED])
def test_without_news_each_round_has_every_path(balancer: int) -> None:
    paths = Paths(balancer)
    for _ in range(5):
        assert sorted(paths.next(PATHS)) == list(range(PATHS))


def test_oblivious_does_not_listen() -> None:
    deaf, other = Paths(OBLIVIOUS), Paths(OBLIVIOUS)
    deaf.told(3, is_trimmed=True)
    assert deaf.next(100) == other.next(100)


@pytest.mark.parametrize(
    ("news", "rounds"),
    [
        pytest.param({"is_marked": True}, 1, id="a mark"),
        pytest.param({"is_trimmed": True}, 4, id="a trimmed packet"),
    ],
)
@pytest.mark.parametrize("balancer", [BITMAP, MIXED])
def test_a_bitmap_passes_over_a_path_with_bad_news(balancer: int, news: dict[str, bool], rounds: int) -> None:
    paths = Paths(balancer)
    paths.told(5, **news)
    drawn = paths.next((rounds + 1) * PATHS - rounds)
    assert Counter(drawn)[5] == 1
    assert Counter(drawn)[6] == rounds + 1


def test_a_bitmap_holds_a_penalty_of_15_at_most() -> None:
    paths = Paths(BITMAP)
    for _ in range(9):
        paths.told(5, is_trimmed=True)
    assert Counter(paths.next(15 * (PATHS - 1)))[5] == 0
    assert Counter(paths.next(PATHS))[5] == 1


def test_a_timeout_blames_the_first_path_for_15_rounds() -> None:
    paths = Paths(BITMAP)
    paths.times_out(at_us=200)
    assert Counter(paths.next(15 * (PATHS - 1)))[0] == 0
    assert Counter(paths.next(PATHS))[0] == 1


def test_without_paths_the_entropy_is_the_first() -> None:
    assert Requester("uet", mtu_bytes=1_000, parameters={}).next_path() == 0


def test_reps_uses_a_good_path_once_more_and_then_draws() -> None:
    paths = Paths(REPS, paths=2**16)
    for path in (11, 22, 33):
        paths.told(path)
    paths.told(44, is_marked=True)
    paths.told(55, is_trimmed=True)
    assert paths.next(3) == [11, 22, 33]
    assert not {11, 22, 33, 44, 55} & set(paths.next(20))


def test_reps_keeps_the_last_eight() -> None:
    paths = Paths(REPS, paths=2**16)
    for path in range(100, 110):
        paths.told(path)
    assert paths.next(8) == list(range(102, 110))


def test_reps_freezes_after_a_timeout_and_reuses_known_paths() -> None:
    """For 10 ms; then it forgets, and draws 16 at random whatever is acknowledged."""
    paths = Paths(REPS, paths=2**16)
    for path in (11, 22, 33):
        paths.told(path)
    paths.next(3)
    paths.times_out(at_us=200)
    assert paths.next(7) == [11, 22, 33, 11, 22, 33, 11]
    paths.told(44, at_us=10_200)
    assert paths.next(4) == [22, 33, 44, 11]
    paths.told(55, at_us=10_201)
    assert 55 not in paths.next(16)
    assert paths.next(1) == [55]


def test_how_long_reps_freezes_and_what_it_draws_then_may_be_stated() -> None:
    """The timeout comes at 200 us, so that at 300 us it is frozen, and no longer a microsecond later."""
    paths = Paths(REPS, paths=2**16, freeze_ns=100_000, explored_paths=2)
    paths.told(11)
    paths.times_out(at_us=200)
    paths.told(22, at_us=300)
    assert paths.next(4) == [11, 22, 11, 22]
    paths.told(33, at_us=301)
    assert not {11, 22, 33} & set(paths.next(2))
    assert paths.next(1) == [33]


def test_mixed_uses_all_good_paths_once_more_before_the_bitmaps() -> None:
    paths = Paths(MIXED)
    for path in (9, 4, 9):
        paths.told(path)
    assert paths.next(3) == [9, 4, 9]
    assert sorted(paths.next(PATHS)) == list(range(PATHS))
