"""Tests: agents in a kernel whose clock is virtual."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.agent_roles import GID

from rogue.agent.drivers.poller import ExactPoller
from rogue.agent.drivers.verbs.discovery import PortAddress
from rogue.agent.node import virtual_time
from rogue.agent.node.end import NodeContext
from rogue.agent.node.messages import Capabilities
from rogue.agent.node.queue_samples import QueueReading
from rogue.agent.node.virtual_time import KnownNode, Stillness, sleep_until_motion

ROOT = Path(__file__).parents[3]


def test_a_node_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = [PortAddress("rxe-h0", 1, 1, GID, 10**10, "h0")]
    monkeypatch.setattr(virtual_time, "roce_ports", lambda *, is_fresh: ports if is_fresh else [])
    monkeypatch.setattr("rogue.agent.node.capabilities._output", lambda command: pytest.fail(command[0]))
    known = KnownNode.found()
    assert known.ports is ports
    assert isinstance(known.capabilities, Capabilities)
    assert [port["device"] for port in known.capabilities.ports] == ["rxe-h0"]


def test_timers_are_no_later_than_they_must_be() -> None:
    """In a process of its own: what is set stays set."""
    code = """
import ctypes
from rogue.agent.node.virtual_time import be_exact
be_exact()
print(ctypes.CDLL(None).prctl(30, 0, 0, 0, 0))  # PR_GET_TIMERSLACK
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT)
    assert done.stdout == b"1\n"


def test_a_role_has_the_ports_and_a_clock_that_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[NodeContext] = []

    class Idle:
        def __init__(self, _source: int, _sink: int, workplace: NodeContext, _open_end: object) -> None:
            found.append(workplace)

        def serve(self) -> int:
            return 7

    monkeypatch.setattr(virtual_time, "DataProcess", Idle)
    ports = [PortAddress("rxe-h0", 1, 1, GID, 10**10, "h0")]
    assert virtual_time.work(ports, "flow0-requester", tmp_path, 0, 1) == 7
    (workplace,) = found
    assert workplace.ports is ports
    assert isinstance(workplace.poller, ExactPoller)
    assert workplace.clock() == workplace.stamp() == workplace.clock()


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
