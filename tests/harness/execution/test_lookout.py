"""A cluster that is lost, by a clock of ours; on real ones: tests/harness/execution/test_dask_programs.py."""

import pytest

from rogue.harness.errors import ClusterLostError
from rogue.harness.execution.dask_slot import LOOK_SECONDS, Lookout


class Cluster:
    """A scheduler with so many workers, at an instant that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0
        self.workers = {"w1": 1, "w2": 1}
        self.asked = 0
        self.lookout = Lookout("tcp://head:8786", self._ask, 30.0, lambda: self.now)

    def _ask(self) -> dict[str, int]:
        self.asked += 1
        return self.workers

    def look_at(self, now: float) -> None:
        self.now = now
        self.lookout.look()


def test_it_asks_no_more_often_than_it_says() -> None:
    cluster = Cluster()
    for tenth in range(21):
        cluster.look_at(100 + tenth * LOOK_SECONDS / 10)
    assert cluster.asked == 2


def test_without_a_worker_for_too_long_it_is_lost() -> None:
    cluster = Cluster()
    cluster.look_at(110)
    cluster.workers = {}
    cluster.look_at(139)
    with pytest.raises(ClusterLostError, match="the Dask scheduler tcp://head:8786 had no worker for 30 s"):
        cluster.look_at(140)


def test_a_worker_that_comes_back_starts_the_patience_again() -> None:
    cluster = Cluster()
    cluster.workers = {}
    cluster.look_at(120)
    cluster.workers = {"w3": 1}
    cluster.look_at(129)
    cluster.workers = {}
    cluster.look_at(158)
    with pytest.raises(ClusterLostError):
        cluster.look_at(159)
