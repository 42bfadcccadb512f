from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rogue.agent.baselines.tcp_flow import encode_arrived
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs

if TYPE_CHECKING:
    from conftest import Stream

START = HostNs(1_000)


def columns(stream: Stream, name: str) -> list[str]:
    header, *lines = stream.rows.getvalue().splitlines()
    place = header.split(",").index(name)
    return [line.split(",")[place] for line in lines]


def test_transfers_arrive_whole_one_after_the_other(stream: Stream) -> None:
    stream.source.fill(5)
    stream.run(Schedule(300_000, START, count=4))
    assert columns(stream, "status") == ["ok"] * 4
    assert stream.destination.sha256() == stream.source.sha256()
    assert (stream.sender.moved_bytes, stream.meter.total_bytes) == (1_200_000, 1_200_000)
    assert all(value.isdigit() for value in columns(stream, "retransmitted_bytes"))


def test_a_transfer_larger_than_the_memory_starts_again_at_its_beginning(stream: Stream) -> None:
    stream.run(Schedule(2_000_000, START))
    assert stream.meter.total_bytes == 2_000_000


def test_a_transfer_of_no_bytes_is_a_probe(stream: Stream) -> None:
    stream.run(Schedule(0, START, count=10, interval_ns=2_000))
    assert columns(stream, "size_bytes") == ["0"] * 10
    assert stream.receiver.transfers == 10


def test_arrivals_queue_behind_one_another(stream: Stream) -> None:
    arrivals = ((START, 400_000), (START, 5), (HostNs(50_000), 0))
    stream.run(Schedule(0, START, count=None, arrivals=arrivals))
    assert columns(stream, "transfer_id") == ["1", "2", "3"]


def test_a_peer_that_is_gone_fails_what_runs(stream: Stream) -> None:
    stream.sender.follow(Schedule(10_000_000, START, count=None))
    stream.turn()
    stream.ends[1].close()
    for _ in range(100):
        now = stream.clock.read()
        stream.sender.on_writable(now, stream.clock.read)
        if stream.sender.is_finished:
            break
        stream.sender.on_readable(now)
    assert stream.sender.is_finished
    assert columns(stream, "status") == ["error"]
    assert columns(stream, "error")[0]


def test_what_still_runs_at_the_end_is_unfinished(stream: Stream) -> None:
    stream.sender.follow(Schedule(200_000_000, START, count=None))
    stream.turn()
    stream.sender.finish()
    stream.receiver.on_readable(stream.clock.read(), stream.clock.read)
    stream.sender.on_readable(stream.clock.read())
    assert columns(stream, "status") == ["unfinished"]
    assert not stream.sender.wants_to_send


@pytest.mark.parametrize("word", [1, 2, 77])
def test_a_peer_is_not_believed_about_what_has_not_gone_out(stream: Stream, word: int) -> None:
    """Of transfer 1 only a part has gone; 2 has not begun; 77 never was."""
    stream.sender.follow(Schedule(200_000_000, START, count=2))
    stream.sender.on_time(stream.clock.read())
    stream.sender.on_writable(stream.clock.read(), stream.clock.read)
    stream.ends[1].sendall(encode_arrived(word))
    assert not stream.sender.on_readable(stream.clock.read())
    assert columns(stream, "status") == ["error"]
    assert columns(stream, "error") == ["the peer confirmed a transfer that it cannot have received"]
    assert stream.sender.moved_bytes == 0


def test_a_word_twice_is_not_believed_twice(stream: Stream) -> None:
    stream.run(Schedule(5, START, count=1))
    stream.ends[1].sendall(encode_arrived(1))
    assert not stream.sender.on_readable(stream.clock.read())
    assert stream.sender.moved_bytes == 5
