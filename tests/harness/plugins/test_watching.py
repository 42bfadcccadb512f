"""A copy of this process that calls what may never return."""

from collections.abc import Callable

import pytest

from rogue.harness.plugins.sandbox import copied, goes_on


def test_what_the_copy_says_is_heard_and_ends_with_its_work() -> None:
    with copied(lambda pipe: pipe.send("heard")) as pipe:
        assert pipe.recv() == "heard"
        with pytest.raises(EOFError):
            pipe.recv()


def test_a_work_that_ends_goes_on_also_with_an_error() -> None:
    assert goes_on(lambda heard: [heard() for _ in range(3)], 60)
    assert goes_on(lambda _: 1 // 0, 60)


def test_a_work_that_never_ends_does_not() -> None:
    def endless(heard: Callable[[], None]) -> None:
        heard()
        while True:
            pass

    assert not goes_on(endless, 0.1)


def test_nothing_of_the_copy_comes_back() -> None:
    kept: list[int] = []
    assert goes_on(lambda _: kept.append(1), 60)
    assert not kept
