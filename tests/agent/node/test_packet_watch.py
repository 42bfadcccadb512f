"""The role of a Linux switch: its orders, and the conversation of a real agent about them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rogue.agent.node.capture import CaptureOrder, PacketEnd, PortDirection
from rogue.agent.node.fields import AgentError
from rogue.agent.node.messages import (
    SWITCH_ROLE,
    EndRole,
    Prepared,
    Result,
    Results,
    RoleEnded,
    Start,
    Started,
    Watch,
    Watching,
)
from rogue.agent.node.packet_events import PacketEvent
from rogue.agent.node.packet_watch import WatchOrders
from rogue.agent.node.wire import AgentClient

LIMIT_MS = 10_000


def prepared(role: str, address: str, qp_num: int, psn: int) -> Prepared:
    return Prepared(
        role, "rc", address, 10**8, 1024, "host", "event", "none",
        qp_num=qp_num, psn=psn, shadow_qp_num=qp_num + 10, shadow_psn=psn + 10, side_qp_num=qp_num + 20,
    )  # fmt: skip


def test_orders_name_queue_pairs_once_they_are_known() -> None:
    ends = {"a": prepared("a", "10.9.0.1", 1, 100), "b": prepared("b", "10.9.0.2", 2, 200)}
    event = PacketEvent("h1->s0", "eth2", "s0", ("ack",), 7, 1, "drop", receiver="a", requester="a")
    ports = {"h1->s0": PortDirection("eth2", is_incoming=True)}
    found = WatchOrders(CaptureOrder(ports, 10, roles=["b"]), [event]).resolved(ends)
    assert found.capture is not None
    assert found.capture.ends == [PacketEnd("10.9.0.2", number) for number in (2, 12, 22)]
    (resolved,) = found.packet_events
    assert (resolved.address, resolved.first_psns) == ("10.9.0.1", {1: 100, 11: 110, 21: 0})
    assert WatchOrders.read(json.loads(found.text())).text() == found.text()
    (read,) = WatchOrders.read(json.loads(found.text())).packet_events
    assert read.first_psns == resolved.first_psns


class Pipes:
    """An agent as the switch machine runs it, with pipes in place of SSH."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rogue.agent", "serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        )  # fmt: skip

    def sendall(self, data: bytes, /) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)

    def recv(self, size: int, /) -> bytes:
        assert self.process.stdout
        return self.process.stdout.read(size) or b""


@contextmanager
def agent() -> Iterator[AgentClient]:
    pipes = Pipes()
    client = AgentClient(pipes)
    client.open()
    try:
        yield client
        client.close()
    finally:
        pipes.process.kill()
        pipes.process.communicate()


def watch(client: AgentClient, text: str) -> None:
    """Send orders in two parts."""
    for part, is_last in ((text[:9], False), (text[9:], True)):
        client.request(Watch(SWITCH_ROLE, LIMIT_MS, part, is_last), Watching)


def test_switchs_role_watches_for_one_cell_after_the_other() -> None:
    with agent() as client:
        for _ in range(2):
            client.request(Watch(SWITCH_ROLE, LIMIT_MS, "", is_last=False), Watching)
            with pytest.raises(AgentError, match="start before the last part of watch"):
                client.request(Start(SWITCH_ROLE, LIMIT_MS, 5, 1), Started)
            watch(client, WatchOrders().text())
            client.request(Start(SWITCH_ROLE, LIMIT_MS, 5, 1), Started)
            results = client.request(Result(SWITCH_ROLE, LIMIT_MS), Results)
            assert (results.start_ns, results.facts) == (5, {"packets_missed": 0})
            assert Path(str(results.files["packets"])).read_bytes() == b""
            assert Path(str(results.files["struck"])).read_text() == "[]"
            client.request(EndRole(SWITCH_ROLE, LIMIT_MS), RoleEnded)


def test_switch_that_cannot_carry_out_an_event_says_why() -> None:
    event = PacketEvent(
        "h1->s0", "none0", "s0", ("ack",), 7, 1, "drop", address="10.9.0.1", first_psns={1: 1}
    )
    with agent() as client, pytest.raises(AgentError, match=r"packet_event: .*none0") as caught:
        watch(client, WatchOrders(None, [event]).text())
    assert caught.value.role == SWITCH_ROLE
