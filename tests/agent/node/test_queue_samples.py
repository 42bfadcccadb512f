"""Tests: sample the queues of this kernel's interfaces over netlink."""

import socket
import struct

import pytest

from rogue.agent.node.queue_samples import QueueReader, QueueReading, Samples, reading_of, split


def attribute(kind: int, content: bytes) -> bytes:
    padding = -len(content) % 4
    return struct.pack("=HH", 4 + len(content), kind) + content + bytes(padding)


def qdisc(kind: bytes, waiting_bytes: int, drops: int, marks: int) -> bytes:
    """rtnetlink: TCA_KIND 1; TCA_STATS2 7 with TCA_STATS_BASIC 1, _QUEUE 3 and _APP 4, here RED's."""
    queue = attribute(1, struct.pack("=QI", 9000, 6)) + attribute(
        3, struct.pack("=5I", 2, waiting_bytes, drops, 0, 0)
    )
    return attribute(1, kind + b"\0") + attribute(7, queue + attribute(4, struct.pack("=4I", 5, 6, 7, marks)))


def test_a_qdisc_says_what_waits_and_what_was_dropped() -> None:
    assert reading_of(qdisc(b"bfifo", 3000, 7, 99)) == QueueReading(3000, 7, 0, 6)


def test_only_red_marks() -> None:
    assert reading_of(qdisc(b"red", 3000, 7, 11)) == QueueReading(3000, 7, 11, 6)


def test_messages_begin_at_multiples_of_four() -> None:
    one = struct.pack("=IHHII", 17, 36, 0, 0, 0) + b"a" + bytes(3)
    two = struct.pack("=IHHII", 16, 3, 0, 0, 0)
    assert list(split(one + two)) == [(36, b"a"), (3, b"")]


def test_only_the_queue_is_read_of_a_ports_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    loopback = socket.if_nametoindex("lo")
    tree = [
        struct.pack("=BxxxiIII", 0, loopback, handle << 16, 0, 0) + qdisc(kind, waiting_bytes, 1, 0)
        for handle, kind, waiting_bytes in ((1, b"netem", 9000), (2, b"htb", 8000), (3, b"bfifo", 7000))
    ]
    reader = QueueReader({"here": "lo"}, 3)
    monkeypatch.setattr(reader, "_messages", lambda: iter(tree))
    assert reader.read() == {"here": QueueReading(7000, 1, 0, 6)}
    reader.close()


def test_this_computers_loopback_has_a_reading() -> None:
    reader = QueueReader({"here": "lo"}, 3)
    assert reader.read() == {"here": QueueReading()}
    reader.close()


def test_a_sample_says_how_many_more_were_the_same() -> None:
    samples = Samples()
    samples.add(10, {"s0->h0": QueueReading(500, 3, 1, 99), "s0->h1": QueueReading()})
    samples.add(20, {"s0->h0": QueueReading()})
    samples.repeat(4)
    samples.repeat(3)
    samples.add(100, {})
    assert samples.text().splitlines() == [
        "port,t_ns,bytes,drops,marks,sent_packets,repeats",
        "s0->h0,10,500,3,1,99,0",
        "s0->h1,10,0,0,0,0,0",
        "s0->h0,20,0,0,0,0,7",
    ]
