"""Arrivals over a queue pair that does as it is told."""

from collections.abc import Callable
from typing import cast

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.simulated_nic import NicQueuePair
from rogue.agent.drivers.simulated_path import Arrivals


class End:
    """Has delivered as much as a test says."""

    def __init__(self, qp_num: int) -> None:
        self.qp_num = qp_num
        self.delivered_bytes = 0
        self._waits: list[tuple[int, Callable[[int], object]]] = []

    def call_when_delivered(self, delivered_bytes: int, callback: Callable[[int], object]) -> None:
        self._waits.append((delivered_bytes, callback))

    def deliver(self, delivered_bytes: int, now_ns: int) -> None:
        self.delivered_bytes = delivered_bytes
        for threshold, callback in self._waits:
            if threshold <= delivered_bytes:
                callback(now_ns)
        self._waits = [wait for wait in self._waits if wait[0] > delivered_bytes]


def arrivals(*sizes_bytes: int) -> tuple[Arrivals, list[TransferRecord], list[tuple[int, int]]]:
    records = [TransferRecord(number, size, HostNs(0)) for number, size in enumerate(sizes_bytes, 1)]
    told: list[tuple[int, int]] = []
    return Arrivals(records, lambda number, now: told.append((number, now))), records, told


def post(watch: Arrivals, end: End, transfer_id: int, offset_bytes: int, length_bytes: int) -> None:
    watch.on_posted(cast("NicQueuePair", end), length_bytes, transfer_id, offset_bytes + length_bytes)


def test_a_transfer_has_arrived_with_the_last_of_its_verbs() -> None:
    watch, records, told = arrivals(100, 50)
    end = End(1)
    post(watch, end, 1, 0, 60)
    post(watch, end, -1, 0, 0)
    post(watch, end, 1, 60, 40)
    post(watch, end, 2, 0, 50)
    end.deliver(60, 10)
    assert told == []
    end.deliver(100, 20)
    end.deliver(150, 30)
    assert told == [(1, 20), (2, 30)]
    assert [record.arrived_ns for record in records] == [20, 30]


def test_what_a_lost_queue_pair_did_not_bring_comes_over_the_other_one() -> None:
    """60 of 100 bytes were delivered; the verb of the other 40 is posted again, and so later on the first."""
    watch, _, told = arrivals(100, 10)
    lost, other = End(1), End(2)
    post(watch, lost, 1, 0, 60)
    post(watch, lost, 1, 60, 40)
    lost.deliver(60, 10)
    post(watch, other, 1, 60, 40)
    other.deliver(40, 50)
    assert told == [(1, 50)]
    watch.on_ready(cast("NicQueuePair", lost))
    post(watch, lost, 2, 0, 10)
    lost.deliver(70, 60)
    assert told == [(1, 50), (2, 60)]


def test_one_that_arrived_and_is_sent_again_arrives_once() -> None:
    watch, records, told = arrivals(100)
    lost, other = End(1), End(2)
    post(watch, lost, 1, 0, 100)
    lost.deliver(100, 10)
    post(watch, other, 1, 0, 100)
    other.deliver(100, 99)
    watch.on_done(1, HostNs(120))
    assert (told, records[0].arrived_ns) == ([(1, 10)], 10)


def test_what_is_done_has_arrived() -> None:
    watch, records, told = arrivals(100)
    watch.on_done(1, HostNs(7))
    assert (told, records[0].arrived_ns) == ([(1, 7)], 7)
