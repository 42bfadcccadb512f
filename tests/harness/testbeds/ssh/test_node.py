"""One node and its agent."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from helpers.fake_agents import FakeAgent, FakeChannel, fake_host, fake_node, gone

from rogue.agent.node.messages import Alive, Heartbeat, Hello, Stop
from rogue.harness.testbeds.base import TestbedError
from rogue.harness.testbeds.ssh import nodes as node_module
from rogue.harness.testbeds.ssh.nodes import Node
from rogue.remote.login import Login
from rogue.workloads.records import FailureKind


def heartbeat(node: Node) -> Alive:
    return node.ask(Heartbeat("flow0-requester", 1_000), Alive)


def test_it_says_hello_and_how_far_its_clock_is_ahead() -> None:
    agent = FakeAgent(now_ns=10**15)
    node = fake_node("h3", agent)
    assert isinstance(agent.asked[0], Hello)
    assert node.own_ns(0) == node.clock_offset_ns
    assert 0 <= node.clock_error_ns < 10**9
    assert node.capabilities.limiters == ["htb:eth1", "software"]
    assert heartbeat(node).state == "finished"
    node.close()
    assert isinstance(agent.asked[-1], Stop)


@pytest.mark.parametrize(
    ("kind", "role", "expected"),
    [
        ("verbs", "flow0-requester", FailureKind.VERBS),
        ("configuration", "flow0-requester", FailureKind.CONFIGURATION),
        ("out_of_space", "flow0-requester", FailureKind.OUT_OF_SPACE),
        ("timeout", "flow0-requester", FailureKind.TIMEOUT),
        ("bug", "flow0-requester", FailureKind.AGENT),
        ("protocol", None, FailureKind.AGENT),
    ],
)
def test_whose_fault_an_error_is(kind: str, role: str | None, expected: FailureKind) -> None:
    agent = FakeAgent()
    node = fake_node("h0", agent)
    agent.replies[Heartbeat] = lambda request: gone(request, kind, role, "as asked")
    with pytest.raises(TestbedError, match=r"h0.*: as asked") as caught:
        heartbeat(node)
    assert caught.value.kind is expected


@pytest.mark.parametrize(("user", "before"), [("root", ""), ("alice", "sudo -n ")])
def test_the_agent_runs_as_root_and_finds_the_programs_of_root(
    user: str, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []

    class Shell:
        def open_session(self, command: str, limit_s: float) -> FakeChannel:
            assert limit_s > 60
            commands.append(command)
            return FakeChannel(FakeAgent())

    @contextmanager
    def connected(login: Login, limit_s: float) -> Iterator[Shell]:
        assert (login.user, limit_s) == (user, node_module.CONNECT_LIMIT_S)
        yield Shell()

    monkeypatch.setattr(node_module, "connect", connected)
    host = fake_host("h0")
    with node_module.open_node(replace(host, login=replace(host.login, user=user))) as node:
        assert heartbeat(node).state == "finished"
    program = "python3 /opt/rogue/rogue-agent.pyz serve"
    assert commands == [f"{before}/usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin {program}"]


def test_a_node_that_says_nothing_is_lost() -> None:
    agent = FakeAgent()
    node = fake_node("h0", agent)
    agent.replies[Heartbeat] = lambda _request: None
    with pytest.raises(TestbedError, match="did not reply to heartbeat in time") as caught:
        heartbeat(node)
    assert caught.value.kind is FailureKind.NODE_LOST


@pytest.mark.parametrize(("is_active", "kind"), [(False, FailureKind.NODE_LOST), (True, FailureKind.AGENT)])
def test_an_agent_that_ends_is_no_lost_node(
    is_active: bool, kind: FailureKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = FakeAgent()
    node = fake_node("h0", agent)
    monkeypatch.setattr(FakeChannel, "is_active", lambda _self: is_active)
    node._channel.close()
    with pytest.raises(TestbedError, match="the agent ended without a reply") as caught:
        heartbeat(node)
    assert caught.value.kind is kind
