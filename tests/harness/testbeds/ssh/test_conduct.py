"""Test nodes and the conductor that leads their roles through a cell."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

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
from rogue.harness.testbeds.ends.tables import Conducted
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
    assert isinstance(agent.requests[0], Hello)
    assert node.own_ns(0) == node.clock_offset_ns
    assert 0 <= node.clock_error_ns < 10**9
    assert node.capabilities.limiters == ["htb:eth1", "software"]
    assert heartbeat(node).state == "finished"
    node.close()
    assert isinstance(agent.requests[-1], Stop)


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

    class Connection:
        def open_session(self, command: str, limit_s: float) -> FakeChannel:
            assert limit_s > 60
            commands.append(command)
            return FakeChannel(FakeAgent())

    @contextmanager
    def connected(login: Login, limit_s: float) -> Iterator[Connection]:
        assert (login.user, limit_s) == (user, node_module.CONNECT_LIMIT_S)
        yield Connection()

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
    return sum(type(request) is kind for request in agent.requests)


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
MessageT = TypeVar("MessageT", bound=Message)


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conduct, "HEARTBEAT_S", 0.0)


@pytest.fixture
def fakes() -> dict[str, FakeAgent]:
    """Agents whose clocks differ by 10**15 ns."""
    return {name: FakeAgent(now_ns=index * 10**15) for index, name in enumerate(HOSTS)}


def conductor(tmp_path: Path, fakes: dict[str, FakeAgent], *settings: str) -> Conductor:
    cell = cell_of(tmp_path, "topology.rate=100Mbps", *(settings or ("workload.repeat_for=2s",)))
    nodes = {name: fake_node(name, agent) for name, agent in fakes.items()}
    return Conductor(nodes, plan_roles(cell), cell.timing)


def led(leader: Conductor) -> Conducted:
    leader.prepare()
    return leader.run(lambda _fraction: None, lambda _start_ns: None)


def asked(agent: FakeAgent, kind: type[MessageT]) -> list[MessageT]:
    return [request for request in agent.requests if isinstance(request, kind)]


def alive(state: str, error: str | None = None) -> Callable[[Message], Alive]:
    return lambda request: Alive(getattr(request, "role", ""), state, 1, 0, 0, error)


def test_each_node_prepares_its_own_roles_in_order(tmp_path: Path, fakes: dict[str, FakeAgent]) -> None:
    fakes["h0"].files = {"flow0-requester": {"transfers": b"x"}}
    leader = conductor(tmp_path, fakes)
    leader.prepare()
    kinds = [type(request) for request in fakes["h0"].requests if type(request) in (Prepare, Connect, Load)]
    assert kinds == [Prepare, Connect, Load]
    assert len(asked(fakes["h3"], Prepare)) == 3  # the receiver of two flows and a probe
    (connect,) = asked(fakes["h0"], Connect)
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


def test_all_roles_start_at_one_instant(tmp_path: Path, fakes: dict[str, FakeAgent]) -> None:
    before_ns = time.monotonic_ns()
    done = led(conductor(tmp_path, fakes))
    assert done.start_ns is not None
    assert done.start_ns > before_ns
    assert done.start_notice_ns > 0
    for index, name in enumerate(HOSTS):
        late_ns = asked(fakes[name], Start)[0].start_ns - (done.start_ns + index * 10**15)
        assert abs(late_ns + before_ns) < 5 * 10**9  # our own clock is not at zero when theirs are


def test_checksums_are_requested_of_reliable_flows_only(tmp_path: Path, fakes: dict[str, FakeAgent]) -> None:
    led(conductor(tmp_path, fakes))
    requests = [request for agent in fakes.values() for request in asked(agent, Result)]
    assert {request.role for request in requests if request.checksum} == {
        "flow0-requester", "flow0-responder", "flow1-requester", "flow1-responder",
    }  # fmt: skip


def test_time_limit_of_results_grows_with_the_run(tmp_path: Path, fakes: dict[str, FakeAgent]) -> None:
    """Worked: 2 seconds of traffic beside the 55 of any reply, and no more than the protocol takes."""
    led(conductor(tmp_path, fakes))
    (result,) = asked(fakes["h0"], Result)
    assert result.time_limit_ms == 57_000
    assert result_limit_ms(10**12) == 1_055_000
    assert result_limit_ms(10**13) == 3_600_000


def test_receiving_nodes_get_requests_during_the_traffic(tmp_path: Path, fakes: dict[str, FakeAgent]) -> None:
    """Supervisors end themselves after a long silence, and only senders get heartbeats."""
    turns = 5
    states = iter(["running"] * turns * 2 + ["finished"] * 2)

    def reply(request: Message) -> Alive:
        return alive(next(states))(request)

    fakes["h0"].replies[Heartbeat] = fakes["h1"].replies[Heartbeat] = reply
    leader = conductor(tmp_path, fakes, "workload.repeat_for=2s", "probe=null")
    leader.prepare()
    before = {name: len(asked(agent, Clock)) for name, agent in fakes.items()}
    leader.run(lambda _fraction: None, lambda _start_ns: None)
    heard = {name: len(asked(agent, Clock)) - before[name] for name, agent in fakes.items()}
    assert heard["h2"] == heard["h3"] == turns + 1


def test_flow_that_never_ends_is_a_timeout(
    tmp_path: Path, fakes: dict[str, FakeAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    fakes["h1"].replies[Heartbeat] = alive("running")
    monkeypatch.setattr(conduct, "LATE_S", -2.0)
    with pytest.raises(TestbedError, match="main/h1->h3 did not end") as caught:
        led(conductor(tmp_path, fakes, "workload.repeat_for=1ms"))
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fakes: dict[str, FakeAgent], delays_s: list[float]
) -> Conductor:
    """Let h2, the probe's requester, receive each start this late."""
    clock = SlowClock(delays_s)
    fakes |= {name: FakeAgent(now_ns=10**18) for name in HOSTS}
    fakes["h2"].replies[Start] = clock.on_start
    leader = conductor(tmp_path, fakes)
    monkeypatch.setattr(conduct, "time", clock)
    return leader


def test_late_start_is_repeated_with_more_time(
    tmp_path: Path, fakes: dict[str, FakeAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = led(slow_starts(tmp_path, monkeypatch, fakes, [3.0, 3.0]))
    assert len(asked(fakes["h2"], Prepare)) == 2  # what was started once cannot be started again
    assert done.start_notice_ns == pytest.approx(3e9, rel=0.01)  # twice what it took, less what it takes
    assert len(asked(fakes["h2"], EndRole)) == 1


def test_nodes_that_are_always_late_are_a_timeout(
    tmp_path: Path, fakes: dict[str, FakeAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = r"took 300\.0 s to hear of a start that was 60\.0 s away"
    with pytest.raises(TestbedError, match=words) as caught:
        led(slow_starts(tmp_path, monkeypatch, fakes, [3.0, 30.0, 300.0]))
    assert caught.value.kind is FailureKind.TIMEOUT


def test_joined_failures_name_the_lost_node_first() -> None:
    broken = TestbedError(FailureKind.VERBS, "h0: no peer")
    lost = TestbedError(FailureKind.NODE_LOST, "h1: SSH failed")
    both = joined([broken, lost, broken])
    assert (both.kind, str(both)) == (FailureKind.NODE_LOST, "h1: SSH failed; h0: no peer")
    many = joined([TestbedError(FailureKind.AGENT, f"h{index}") for index in range(12)])
    assert str(many).endswith("h9; and 2 more")


@pytest.mark.parametrize(("error", "results"), [("IBV_WC_RETRY_EXC_ERR", 2), (None, 1)])
def test_responder_of_a_failed_flow_is_ended_if_others_wait_for_it(
    tmp_path: Path, fakes: dict[str, FakeAgent], error: str | None, results: int
) -> None:
    fakes["h0"].replies[Heartbeat] = alive("finished", error)
    led(conductor(tmp_path, fakes, "workload={kind: collective, hosts: 3, size: 3KB}", "probe=null"))
    assert len(asked(fakes["h0"], After)) == 1
    assert [each.role for each in asked(fakes["h1"], Result)].count("flow0-responder") == results
