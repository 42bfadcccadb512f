"""Tests: nodes while a cell runs: SSH connections, agents and clocks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from helpers.fake_agents import FakeAgent, FakeChannel, fake_host, fake_inventory, fake_node, gone

from rogue.agent.node.messages import Alive, Clock, Heartbeat, Hello, Message, Stop
from rogue.harness.testbeds.base import TestbedError
from rogue.harness.testbeds.ssh import nodes as node_module
from rogue.harness.testbeds.ssh.nodes import Node, close_nodes, open_nodes
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


def count(agent: FakeAgent, kind: type[Message]) -> int:
    return sum(type(request) is kind for request in agent.asked)


def test_the_next_cell_finds_them_and_compares_clocks_anew(agents: dict[str, FakeAgent]) -> None:
    with open_nodes(fake_inventory(), {"h0", "h1"}) as nodes:
        assert sorted(nodes) == ["h0", "h1"]
        asked = count(agents["h0"], Clock)
    agents["h0"].now_ns += 10**12
    before = nodes["h0"].clock_offset_ns
    with open_nodes(fake_inventory(), {"h0", "h2"}) as again:
        assert again["h0"] is nodes["h0"]
        assert again["h0"].clock_offset_ns > before + 9 * 10**11
    assert count(agents["h0"], Clock) == 2 * asked
    assert [count(agents[name], Hello) for name in ("h0", "h1", "h2", "h3")] == [1, 1, 1, 0]
    assert count(agents["h0"], Stop) == 0
    close_nodes(fake_inventory())
    assert [count(agents[name], Stop) for name in ("h0", "h1", "h2", "h3")] == [1, 1, 1, 0]


def test_an_agent_that_has_ended_meanwhile_is_started_anew(agents: dict[str, FakeAgent]) -> None:
    with open_nodes(fake_inventory(), {"h0", "h1"}) as nodes:
        before = nodes["h0"]
    before._channel.close()
    with open_nodes(fake_inventory(), {"h0", "h1"}) as again:
        assert again["h0"] is not before
        assert again["h1"] is nodes["h1"]
    assert [count(agents[name], Hello) for name in ("h0", "h1")] == [2, 1]


def test_a_cell_that_fails_leaves_none(agents: dict[str, FakeAgent]) -> None:
    with open_nodes(fake_inventory(), {"h0", "h1"}):
        pass
    with pytest.raises(ZeroDivisionError), open_nodes(fake_inventory(), {"h0"}):
        raise ZeroDivisionError
    assert [count(agents[name], Stop) for name in ("h0", "h1")] == [1, 1]
    with open_nodes(fake_inventory(), {"h0"}):
        assert count(agents["h0"], Hello) == 2
