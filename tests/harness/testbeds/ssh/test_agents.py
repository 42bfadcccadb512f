"""Agents that stay from cell to cell."""

import pytest
from helpers.fake_agents import FakeAgent, fake_inventory

from rogue.agent.node.messages import Clock, Hello, Message, Stop
from rogue.harness.testbeds.ssh.nodes import close_nodes, open_nodes


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
