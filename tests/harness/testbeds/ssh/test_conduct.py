"""Test nodes and the conductor that leads their roles through a cell."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import FakeAgent, FakeChannel, fake_host, fake_inventory, fake_node, gone

from rogue.agent.node.messages import (
    After,
    Alive,
    Clock,
    Connect,
    EndRole,
    Heartbeat,
    Hello,
    Load,
    Message,
    Prepare,
    Result,
    Start,
    Started,
    Stop,
)
from rogue.harness.testbeds.base import TestbedError
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.ssh import conduct
from rogue.harness.testbeds.ssh import nodes as node_module
from rogue.harness.testbeds.ssh.conduct import Conductor, joined, result_limit_ms
from rogue.harness.testbeds.ssh.nodes import Node, close_nodes, open_nodes
from rogue.remote.login import Login
from rogue.workloads.records import FailureKind


def heartbeat(node: Node) -> Alive:
    return node.ask(Heartbeat("flow0-requester", 1_000), Alive)


def test_opened_node_has_capabilities_and_a_clock_offset() -> None:
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
def test_error_of_an_agent_becomes_a_failure_kind(kind: str, role: str | None, expected: FailureKind) -> None:
    agent = FakeAgent()
    node = fake_node("h0", agent)
    agent.replies[Heartbeat] = lambda request: gone(request, kind, role, "as asked")
    with pytest.raises(TestbedError, match=r"h0.*: as asked") as caught:
        heartbeat(node)
    assert caught.value.kind is expected


@pytest.mark.parametrize(("user", "before"), [("root", ""), ("alice", "sudo -n ")])
def test_agent_is_started_as_root(user: str, before: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_silent_node_is_lost() -> None:
    agent = FakeAgent()
    node = fake_node("h0", agent)
    agent.replies[Heartbeat] = lambda _request: None
    with pytest.raises(TestbedError, match="did not reply to heartbeat in time") as caught:
        heartbeat(node)
    assert caught.value.kind is FailureKind.NODE_LOST


@pytest.mark.parametrize(("is_active", "kind"), [(False, FailureKind.NODE_LOST), (True, FailureKind.AGENT)])
def test_ended_agent_is_a_lost_node_only_without_connection(
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


def test_next_cell_reuses_nodes_and_compares_clocks_again(agents: dict[str, FakeAgent]) -> None:
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


def test_agent_that_ended_between_cells_is_restarted(agents: dict[str, FakeAgent]) -> None:
    with open_nodes(fake_inventory(), {"h0", "h1"}) as nodes:
        before = nodes["h0"]
    before._channel.close()
    with open_nodes(fake_inventory(), {"h0", "h1"}) as again:
        assert again["h0"] is not before
        assert again["h1"] is nodes["h1"]
    assert [count(agents[name], Hello) for name in ("h0", "h1")] == [2, 1]


def test_failed_cell_closes_all_nodes(agents: dict[str, FakeAgent]) -> None:
    with open_nodes(fake_inventory(), {"h0", "h1"}):
        pass
    with pytest.raises(ZeroDivisionError), open_nodes(fake_inventory(), {"h0"}):
        raise ZeroDivisionError
    assert [count(agents[name], Stop) for name in ("h0", "h1")] == [1, 1]
    with open_nodes(fake_inventory(), {"h0"}):
        assert count(agents["h0"], Hello) == 2


HOSTS = ("h0", "h1", "h2", "h3")


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conduct, "HEARTBEAT_S", 0.0)


def conductor(tmp_path: Path, agents: dict[str, FakeAgent], *settings: str) -> Conductor:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", "workload.repeat_for=2s", *settings)
    nodes = {name: fake_node(name, agent) for name, agent in agents.items()}
    timing = cell.timing
    return Conductor(nodes, plan_roles(cell), timing)


def asked(agent: FakeAgent, kind: type[Message]) -> list[Message]:
    return [request for request in agent.asked if type(request) is kind]


def test_each_node_prepares_its_own_roles_in_order(tmp_path: Path) -> None:
    agents = {name: FakeAgent(now_ns=index * 10**15) for index, name in enumerate(HOSTS)}
    agents["h0"].files = {"flow0-requester": {"transfers": b"x"}}
    leader = conductor(tmp_path, agents)
    leader.prepare()
    kinds = [type(request) for request in agents["h0"].asked if type(request) in (Prepare, Connect, Load)]
    assert kinds == [Prepare, Connect, Load]
    assert len(asked(agents["h3"], Prepare)) == 3  # the receiver of two flows and a probe
    (connect,) = asked(agents["h0"], Connect)
    assert isinstance(connect, Connect)
    assert connect.peer.role == "flow0-responder"

    fractions: list[float] = []
    starts: list[int] = []
    done = leader.run(fractions.append, starts.append)
    assert starts == [done.start_ns]
    assert set(done.results) == {
        f"{flow}-{end}" for flow in ("flow0", "flow1", "probe") for end in ("requester", "responder")
    }
    assert done.files["flow0-requester"] == {"transfers": b"x"}
    assert fractions
    assert all(0 <= fraction <= 1 for fraction in fractions)


def test_all_roles_start_at_one_instant(tmp_path: Path) -> None:
    agents = {name: FakeAgent(now_ns=index * 10**15) for index, name in enumerate(HOSTS)}
    leader = conductor(tmp_path, agents)
    leader.prepare()
    before_ns = time.monotonic_ns()
    done = leader.run(lambda _fraction: None, lambda _start_ns: None)
    assert done.start_ns > before_ns
    assert done.start_notice_ns > 0
    for index, name in enumerate(HOSTS):
        start = asked(agents[name], Start)[0]
        assert isinstance(start, Start)
        late_ns = start.start_ns - (done.start_ns + index * 10**15)
        assert abs(late_ns + before_ns) < 5 * 10**9  # our own clock is not at zero when theirs are


def test_checksums_are_requested_of_reliable_flows_only(tmp_path: Path) -> None:
    agents = {name: FakeAgent() for name in HOSTS}
    leader = conductor(tmp_path, agents)
    leader.prepare()
    leader.run(lambda _fraction: None, lambda _start_ns: None)
    sums = {
        request.role: request.checksum
        for agent in agents.values()
        for request in asked(agent, Result)
        if isinstance(request, Result)
    }
    assert {role for role, wanted in sums.items() if wanted} == {
        "flow0-requester", "flow0-responder", "flow1-requester", "flow1-responder",
    }  # fmt: skip


def test_time_limit_of_results_grows_with_the_run(tmp_path: Path) -> None:
    """Worked: 2 seconds of traffic beside the 55 of any reply, and no more than the protocol takes."""
    agents = {name: FakeAgent() for name in HOSTS}
    leader = conductor(tmp_path, agents)
    leader.prepare()
    leader.run(lambda _done: None, lambda _start_ns: None)
    (result,) = asked(agents["h0"], Result)
    assert isinstance(result, Result)
    assert result.time_limit_ms == 57_000
    assert result_limit_ms(10**12) == 1_055_000
    assert result_limit_ms(10**13) == 3_600_000


def test_receiving_nodes_get_requests_during_the_traffic(
    tmp_path: Path,
) -> None:
    """Supervisors end themselves after a long silence, and senders alone are asked how they are."""
    agents = {name: FakeAgent() for name in HOSTS}
    turns = 5
    states = iter(["running"] * turns * 2 + ["finished"] * 2)
    for name in ("h0", "h1"):
        agents[name].replies[Heartbeat] = lambda request: Alive(
            getattr(request, "role", ""), next(states), 1, 0, 0, None
        )
    leader = conductor(tmp_path, agents, "probe=null")
    leader.prepare()
    before = {name: len(asked(agent, Clock)) for name, agent in agents.items()}
    leader.run(lambda _fraction: None, lambda _start_ns: None)
    heard = {name: len(asked(agent, Clock)) - before[name] for name, agent in agents.items()}
    assert heard["h2"] == heard["h3"] == turns + 1


def test_flow_that_never_ends_is_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agents = {name: FakeAgent() for name in HOSTS}
    agents["h1"].replies[Heartbeat] = lambda request: Alive(
        getattr(request, "role", ""), "running", 1, 0, 0, None
    )
    leader = conductor(tmp_path, agents, "workload.repeat_for=1ms")
    leader.prepare()
    monkeypatch.setattr(conduct, "LATE_S", -2.0)
    with pytest.raises(TestbedError, match="main/h1->h3 did not end") as caught:
        leader.run(lambda _fraction: None, lambda _start_ns: None)
    assert caught.value.kind is FailureKind.TIMEOUT


class SlowClock:
    """A clock that jumps at each start, and a wait that takes no time."""

    def __init__(self, delays_s: list[float]) -> None:
        self._delays_s = delays_s
        self._now_ns = 10**12

    def monotonic_ns(self) -> int:
        return self._now_ns

    def sleep(self, seconds: float) -> None:
        self._now_ns += int(seconds * 1e9)

    def on_start(self, request: Message) -> Message:
        assert isinstance(request, Start)
        self.sleep(self._delays_s.pop(0) if self._delays_s else 0.0)
        return Started(request.role)


def slow_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delays_s: list[float]
) -> tuple[Conductor, dict[str, FakeAgent]]:
    """Let one node receive each start this late."""
    clock = SlowClock(delays_s)
    agents = {name: FakeAgent(now_ns=10**18) for name in HOSTS}
    agents["h2"].replies[Start] = clock.on_start  # the probe's requester: one start a time
    leader = conductor(tmp_path, agents)
    monkeypatch.setattr(conduct, "time", clock)
    leader.prepare()
    return leader, agents


def test_late_start_is_repeated_with_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leader, agents = slow_starts(tmp_path, monkeypatch, [3.0, 3.0])
    done = leader.run(lambda _fraction: None, lambda _start_ns: None)
    assert len(asked(agents["h2"], Prepare)) == 2  # what was started once cannot be started again
    assert done.start_notice_ns == pytest.approx(3e9, rel=0.01)  # twice what it took, less what it takes
    assert [type(request) for request in agents["h2"].asked].count(EndRole) == 1


def test_nodes_that_are_always_late_are_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leader, _ = slow_starts(tmp_path, monkeypatch, [3.0, 30.0, 300.0])
    with pytest.raises(
        TestbedError, match=r"took 300\.0 s to hear of a start that was 60\.0 s away"
    ) as caught:
        leader.run(lambda _fraction: None, lambda _start_ns: None)
    assert caught.value.kind is FailureKind.TIMEOUT


def test_joined_failures_name_the_lost_node_first() -> None:
    broken = TestbedError(FailureKind.VERBS, "h0: no peer")
    lost = TestbedError(FailureKind.NODE_LOST, "h1: SSH failed")
    told = joined([broken, lost, broken])
    assert (told.kind, str(told)) == (FailureKind.NODE_LOST, "h1: SSH failed; h0: no peer")
    many = joined([TestbedError(FailureKind.AGENT, f"h{index}") for index in range(12)])
    assert str(many).endswith("h9; and 2 more")


@pytest.mark.parametrize(("error", "results"), [("IBV_WC_RETRY_EXC_ERR", 2), (None, 1)])
def test_responder_of_a_failed_flow_is_ended_if_others_wait_for_it(
    tmp_path: Path, error: str | None, results: int
) -> None:
    agents = {name: FakeAgent() for name in HOSTS}
    agents["h0"].replies[Heartbeat] = lambda request: Alive(
        getattr(request, "role", ""), "finished", 1, 0, 0, error
    )
    cell = cell_of(tmp_path, "workload={kind: collective, hosts: 3, size: 3KB}", "probe=null")
    nodes = {name: fake_node(name, agent) for name, agent in agents.items()}
    leader = Conductor(nodes, plan_roles(cell), cell.timing)
    leader.prepare()
    assert len(asked(agents["h0"], After)) == 1
    leader.run(lambda _fraction: None, lambda _start_ns: None)
    there = [each for each in asked(agents["h1"], Result) if getattr(each, "role", "") == "flow0-responder"]
    assert len(there) == results
