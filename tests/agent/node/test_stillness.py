"""Times in which nothing moves, and what ends them."""

import os
import socket

import pytest

from rogue.agent.node.queue_samples import QueueReading
from rogue.agent.node.virtual_time import Stillness, sleep_until_motion

LONG_NS = 60 * 10**9


def test_it_is_still_when_nothing_has_changed_for_long_enough() -> None:
    """A packet that only passes through leaves nothing waiting, and is counted as sent."""
    stillness = Stillness(after_ns=10)
    one, other = {"p": QueueReading(sent_packets=1)}, {"p": QueueReading(sent_packets=2)}
    found = [
        stillness.is_reached(*each) for each in ((one, 0), (one, 9), (one, 10), (other, 11), (other, 21))
    ]
    assert found == [False, False, True, False, True]


def test_who_may_not_see_packets_does_not_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> socket.socket:
        raise PermissionError

    monkeypatch.setattr(socket, "socket", refuse)
    assert sleep_until_motion([], LONG_NS) is False


def test_a_packet_or_a_word_ends_the_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root there is no packet socket: one end of a pair stands for it."""
    for moving in (True, False):
        tap, network = socket.socketpair()
        with network, monkeypatch.context() as patched:
            patched.setattr(socket, "socket", lambda *_, tap=tap: tap)
            reader, writer = os.pipe()
            network.send(b"packet") if moving else os.write(writer, b"word")
            assert sleep_until_motion([reader], LONG_NS) is True
            assert tap.fileno() == -1, "closed again, for it costs every packet a copy"
            os.close(reader)
            os.close(writer)
