"""Flows that share a card's limiters, on the engine: fair turns, and no flow under another one's rate."""

import pytest

from rogue.agent.core.actions import Verb
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_limiters import NicLimiters
from rogue.agent.drivers.simulated_path import open_path
from rogue.simulator import CX3PRO, QueuePair, Simulation, SimulationError

RATE_BPS = 10**10
MTU_BYTES = 1024
IDEAL_BPS = RATE_BPS * MTU_BYTES / 1106
SECOND_NS = 10**9
MS = 10**6
LINK = LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=CX3PRO.rate_step_bps)


class SharedStar:
    """Hosts h0.. around one switch, whose limiters are shared out."""

    def __init__(self, hosts: int) -> None:
        self.simulation = Simulation(seed=1)
        self.simulation.add_switch("s0", buffer_bytes=9_000_000, alpha=1.0)
        for number in range(hosts):
            self.simulation.add_host(f"h{number}", CX3PRO)
        for number in range(hosts):
            self.simulation.add_link(f"h{number}", "s0", rate_bps=RATE_BPS, delay_ps=10**6)
        self.limiters = {f"h{number}": NicLimiters(self.simulation, 8) for number in range(hosts)}
        self.flows: list[tuple[QueuePair, SimulatedFlow]] = []

    def add(
        self,
        source: int,
        destination: int,
        *,
        transport: str = "rogue",
        size_bytes: int = 10**9,
        verb: Verb = "write",
        start_ns: int = 0,
    ) -> SimulatedFlow:
        settings = settings_for(transport, RATE_BPS, {})
        path = open_path(
            self.simulation,
            f"h{source}",
            f"h{destination}",
            settings=settings,
            mtu_bytes=MTU_BYTES,
            limiters=self.limiters,
        )
        schedule = Schedule(size_bytes, HostNs(start_ns), verb=verb)
        flow = SimulatedFlow(
            self.simulation, path, settings=settings, link=LINK, schedule=schedule, record_rtt=False
        )
        flow.start()
        self.flows.append((path.main[0], flow))
        return flow

    def goodputs_bps(self, host_ns: int) -> list[float]:
        return [end.delivered_bytes * 8 * SECOND_NS / host_ns for end, _ in self.flows]


def jain(values: list[float]) -> float:
    return sum(values) ** 2 / (len(values) * sum(value * value for value in values))


def twelve_flows(star: SharedStar) -> list[float]:
    for number in range(1, 13):
        star.add(0, number)
    star.simulation.run_until(SECOND_NS)
    return star.goodputs_bps(SECOND_NS)


def test_twelve_flows_share_eight_limiters_fairly() -> None:
    goodputs_bps = twelve_flows(SharedStar(13))
    assert sum(goodputs_bps) > 0.98 * IDEAL_BPS
    assert jain(goodputs_bps) > 0.99
    assert min(goodputs_bps) > 0.9 * IDEAL_BPS / 12


def test_without_turns_the_same_flows_are_unfair() -> None:
    star = SharedStar(13)
    star.limiters = {}
    goodputs_bps = twelve_flows(star)
    assert jain(goodputs_bps) < 0.6
    assert min(goodputs_bps) < 0.2 * IDEAL_BPS / 12


def test_a_limiter_has_one_user_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow moves to a limiter only when the one that used it before is idle; or the engine objects."""
    users: dict[int, QueuePair] = {}
    changes = 0
    move = QueuePair.use_limiter
    star = SharedStar(13)

    def use_limiter(self: QueuePair, number: int) -> None:
        nonlocal changes
        if self.qp_num in {end.qp_num for end, _ in star.flows}:
            if number in users:
                move(users[number], number)
                changes += 1
            users[number] = self
        move(self, number)

    monkeypatch.setattr(QueuePair, "use_limiter", use_limiter)
    twelve_flows(star)
    assert sorted(users) == list(range(8))
    assert changes > 100


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_all_flows_complete_after_a_cut_of_their_host(transport: str) -> None:
    """Two seconds: over RC each loses both queue pairs, with a limiter or waiting for one."""
    star = SharedStar(13)
    for number in range(1, 13):
        star.add(0, number, transport=transport, size_bytes=30_000_000)
    star.simulation.cut_link("h0", "s0", start_ns=30 * MS, duration_ns=2 * SECOND_NS)
    star.simulation.run_until(4 * SECOND_NS)
    star.simulation.check_invariants()
    assert [flow.transfers[0].status for _, flow in star.flows] == ["ok"] * 12
    lost = sum(event.event == "qp_failed" for _, flow in star.flows for event in flow.events)
    assert lost == (24 if transport == "rogue" else 0)


def test_stranded_flows_release_their_limiters() -> None:
    """Nine of twelve receivers are gone for ever: the other three still have the link to themselves."""
    star = SharedStar(13)
    for number in range(1, 13):
        star.add(0, number, size_bytes=200_000_000)
    for number in range(1, 10):
        star.simulation.cut_link(f"h{number}", "s0", start_ns=30 * MS, duration_ns=100 * SECOND_NS)
    star.simulation.run_until(2 * SECOND_NS)
    assert [flow.transfers[0].status for _, flow in star.flows] == ["unfinished"] * 9 + ["ok"] * 3


def test_eight_flows_in_each_direction_have_eight_limiters_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passive ends take none, although they were connected in between."""
    moves: list[tuple[int, int]] = []
    move = QueuePair.use_limiter

    def use_limiter(self: QueuePair, number: int) -> None:
        moves.append((self.qp_num, number))
        move(self, number)

    monkeypatch.setattr(QueuePair, "use_limiter", use_limiter)
    star = SharedStar(2)
    for number in range(16):
        star.add(number % 2, 1 - number % 2)
    star.simulation.run_until(SECOND_NS // 10)
    for host in (0, 1):
        own = {end.qp_num for end, _ in star.flows[host::2]}
        assert [limiter for qp_num, limiter in moves if qp_num in own] == list(range(8)), (
            "and none moves again"
        )


def test_a_flow_without_control_is_not_limited_by_others() -> None:
    """Twelve paced flows keep a receiver busy at a tenth of the line rate; the native one has the rest."""
    star = SharedStar(4)
    native = star.add(0, 1, transport="roce", size_bytes=50_000_000)
    for _ in range(12):
        star.add(0, 2)
        star.add(3, 2)
    star.simulation.run_until(SECOND_NS)
    (record,) = native.transfers
    assert record.status == "ok"
    assert record.end_ns is not None
    assert 50_000_000 * 8 * SECOND_NS / record.end_ns > 0.3 * IDEAL_BPS


def test_responses_to_reads_have_their_own_limiter() -> None:
    star = SharedStar(3)
    for _ in range(2):
        star.add(0, 1, verb="read")
        star.add(1, 2)
    star.simulation.run_until(SECOND_NS)
    assert sum(star.goodputs_bps(SECOND_NS)) > 0.95 * IDEAL_BPS
    assert jain(star.goodputs_bps(SECOND_NS)) > 0.8


def test_more_readers_than_limiters_are_an_error() -> None:
    star = SharedStar(10)
    for number in range(1, 9):
        star.add(number, 0, verb="read")
    with pytest.raises(SimulationError, match=r"no limiter is left for queue pair \d+: each queue pair that"):
        star.add(9, 0, verb="read")
    with pytest.raises(SimulationError, match="no limiter is left"):
        star.add(0, 9)
