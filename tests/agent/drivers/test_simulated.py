"""One simulated flow over the engine, and over a network of whole verbs."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers.agent_star import MTU_BYTES, RATE_BPS, SECOND_NS, AgentStar, repeated

from rogue.agent.core.actions import PostSend, RttSample
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_path import open_path
from rogue.simulator import CX3PRO, IDEAL, NicProfile, Simulation

ERROR_NS_MAX = 3000
WITHOUT_PCI = replace(CX3PRO, pci_rc_ns=0, pci_late_ns=0)
MS = 10**6


def incast(senders: int, duration_ns: int, seed: int = 1, profile: NicProfile = WITHOUT_PCI) -> AgentStar:
    schedule = repeated(128_000_000, duration_ns)
    return AgentStar(senders, schedule, seed=seed, profile=profile).run(duration_ns)


@pytest.mark.parametrize("senders", [4, 8])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("profile", [WITHOUT_PCI, CX3PRO], ids=["without-pci", "cx3pro"])
def test_estimates_in_an_incast_are_exact(senders: int, seed: int, profile: NicProfile) -> None:
    error_ns = incast(senders, SECOND_NS, seed, profile).estimate_error_ns()
    assert abs(error_ns - profile.pci_rc_ns) <= ERROR_NS_MAX


def requested_instead_of_effective_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    program = SimulatedFlow.set_rate

    def set_rate(self: SimulatedFlow, rate_bps: int) -> int:
        program(self, rate_bps)
        return rate_bps

    monkeypatch.setattr(SimulatedFlow, "set_rate", set_rate)


def host_clock_instead_of_nic_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    post = SimulatedFlow.post_send

    def post_send(self: SimulatedFlow, action: PostSend) -> NicNs:
        post(self, action)
        return NicNs(self._simulation.now_ns)

    monkeypatch.setattr(SimulatedFlow, "post_send", post_send)


@pytest.mark.parametrize("mutate", [requested_instead_of_effective_rate, host_clock_instead_of_nic_clock])
@pytest.mark.parametrize("senders", [4, 8])
def test_the_same_figure_sees_each_mutant(
    mutate: Callable[[pytest.MonkeyPatch], None], senders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate(monkeypatch)
    assert abs(incast(senders, SECOND_NS).estimate_error_ns()) > ERROR_NS_MAX


def test_a_lone_flow_fills_the_link() -> None:
    """Slow start and hold-offs cost some milliseconds at the start."""
    star = AgentStar(1, repeated(128_000_000, SECOND_NS)).run(SECOND_NS)
    assert star.utilisation() == pytest.approx(1, rel=0.005)


def lone_samples(**overrides: object) -> list[RttSample]:
    star = AgentStar(1, repeated(128_000_000, SECOND_NS // 10), profile=CX3PRO, overrides=overrides)
    return star.run(SECOND_NS // 10).flows[0][1].rtt_samples


def test_the_first_window_is_one_verb_at_line_rate_whose_sample_counts() -> None:
    """10 packets of 1024 bytes instead of a segment of 64 KiB; the second verb starts after its sample."""
    first = next(each for each in lone_samples(first_window=True) if each.accepted)
    assert (first.wr_id & 0xFF, first.cwnd_packets) == (1, 20)
    usual = next(each for each in lone_samples() if each.accepted)
    assert usual.wr_id & 0xFF > 1, "the hold-off of the first rate"


def test_a_slow_limiter_write_delays_the_rates_after_the_first() -> None:
    """Rates change at most every 24 ms, so slow start needs longer."""
    quick, slow = lone_samples(), lone_samples(limiter_write_ns=24 * MS)
    assert sum(each.t_ns < 24 * MS and each.accepted for each in slow) == 1
    assert sum(each.accepted for each in quick) > 10 * sum(each.accepted for each in slow)


def test_native_roce_alone_runs_at_line_rate_without_a_single_sample() -> None:
    star = AgentStar(1, repeated(128_000_000, SECOND_NS // 10), transport="roce", profile=IDEAL).run(
        SECOND_NS // 10
    )
    assert star.utilisation() == pytest.approx(1, rel=0.001)
    assert star.flows[0][1].rtt_samples == []


def test_a_transfer_is_recorded_with_its_exact_times() -> None:
    """64 KiB through one switch at line rate: 61 675.2 ns.

    The NIC sends 70 800 bytes (56 640 ns); the switch sends the last packet once more (884.8 ns), 12.8 ns
    late because the first packet was 16 bytes longer; the ACK of 86 bytes is sent twice (137.6 ns); four
    delays of 1 us.
    """
    star = AgentStar(1, Schedule(65_536, HostNs(5000), count=1), transport="roce", profile=IDEAL).run(
        SECOND_NS
    )
    (record,) = star.flows[0][1].transfers
    assert (record.status, record.start_ns, record.error, record.retransmitted_bytes) == ("ok", 5000, None, 0)
    assert record.end_ns == 5000 + 61_675


def test_probes_keep_their_interval() -> None:
    schedule = Schedule(0, HostNs(1000), count=None, repeat_until_ns=HostNs(10**6), interval_ns=100_000)
    star = AgentStar(1, schedule).run(2 * 10**6)
    records = star.flows[0][1].transfers
    assert [record.start_ns for record in records] == list(range(1000, 10**6, 100_000))
    assert all(record.status == "ok" for record in records)


def test_arrivals_overlap() -> None:
    """Three transfers of 10 MB within a millisecond: none waits for the one before, all share the link."""
    arrivals = tuple((HostNs(start_ns), 10_000_000) for start_ns in (1000, 1000, 900_000))
    star = AgentStar(1, Schedule(0, HostNs(0), arrivals=arrivals)).run(SECOND_NS)
    records = star.flows[0][1].transfers
    assert [(record.start_ns, record.status) for record in records] == [
        (1000, "ok"),
        (1000, "ok"),
        (900_000, "ok"),
    ]
    assert records[0].end_ns is not None
    assert records[0].end_ns > 900_000


def test_a_dead_path_is_reported_once_with_its_status() -> None:
    star = AgentStar(
        1, repeated(10**6, SECOND_NS), loss_probability=0.9999, overrides={"timeout_exponent": 8}
    ).run(SECOND_NS)
    (flow,) = (flow for _, flow in star.flows)
    assert [(status, name) for _, status, name in flow.failures] == [(12, "IBV_WC_RETRY_EXC_ERR")]
    (record,) = flow.transfers
    assert (record.status, record.error) == ("error", "IBV_WC_RETRY_EXC_ERR")


def test_transfers_behind_a_full_send_queue_were_never_sent() -> None:
    """The send queue holds 512 verbs; a probe each 0.5 ms finds it full before 537 ms of timeouts end."""
    schedule = Schedule(0, HostNs(0), count=None, interval_ns=MS // 2)
    star = AgentStar(1, schedule, transport="roce", loss_probability=0.9999, seed=2).run(SECOND_NS)
    (flow,) = (flow for _, flow in star.flows)
    assert len(flow.failures) == 1
    assert [record.is_sent for record in flow.transfers] == [True] * 512 + [False] * (
        len(flow.transfers) - 512
    )
    assert len(flow.transfers) > 1000


LONG = Schedule(200_000_000, HostNs(0))


def cut_flow(
    duration_ns: int,
    until_ns: int,
    schedule: Schedule = LONG,
    on_end: Callable[[int, HostNs], None] | None = None,
) -> SimulatedFlow:
    """A transfer of 200 MB through one switch, whose receiver's cable is cut after 50 ms."""
    simulation = Simulation(seed=1)
    simulation.add_switch("s0", buffer_bytes=9_000_000, alpha=1.0)
    for host in ("h0", "h1"):
        simulation.add_host(host, CX3PRO)
    for host in ("h0", "h1"):
        simulation.add_link(host, "s0", rate_bps=RATE_BPS, delay_ps=10**6)
    settings = settings_for("rogue", RATE_BPS, {})
    path = open_path(simulation, "h0", "h1", settings=settings, mtu_bytes=MTU_BYTES)
    link = LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=CX3PRO.rate_step_bps)
    flow = SimulatedFlow(
        simulation, path, settings=settings, link=link, schedule=schedule, record_rtt=False, on_end=on_end
    )
    flow.start()
    simulation.cut_link("h1", "s0", start_ns=50 * MS, duration_ns=duration_ns)
    simulation.run_until(until_ns)
    simulation.check_invariants()
    return flow


def test_a_cut_that_loses_one_queue_pair() -> None:
    flow = cut_flow(150 * MS, SECOND_NS)
    assert [event.event for event in flow.events] == ["qp_failed", "reset", "shadow_switch", "resynchronised"]
    (record,) = flow.transfers
    assert record.status == "ok"
    assert record.end_ns is not None
    assert record.end_ns < 400 * MS, "173 ms of data, 134 ms until the NIC gives up, a slow start"


def test_a_cut_of_two_seconds_loses_both_and_the_transfer_completes() -> None:
    flow = cut_flow(2000 * MS, 4 * SECOND_NS)
    assert [event.event for event in flow.events] == [
        *("qp_failed", "reset", "shadow_switch"),
        *("qp_failed", "reset"),
        *("resynchronised", "shadow_switch", "resynchronised"),
    ]
    assert flow.transfers[0].status == "ok"
    assert [status for _, status, _ in flow.failures] == [12, 12]


def test_transfers_that_a_lost_connection_will_not_start_have_ended() -> None:
    """The third is due after the connection was given up; the fourth waits for another transfer."""
    arrivals = tuple((HostNs(start_ns), 10**6) for start_ns in (0, 60 * MS, 50 * SECOND_NS, 50 * SECOND_NS))
    ended: list[int] = []
    schedule = Schedule(0, HostNs(0), arrivals=arrivals, held=frozenset({3}))
    cut_flow(100 * SECOND_NS, 60 * SECOND_NS, schedule, lambda transfer_id, _: ended.append(transfer_id))
    assert ended == [1, 2, 3]


def test_a_permanent_cut_is_given_up() -> None:
    flow = cut_flow(100 * SECOND_NS, 60 * SECOND_NS)
    (record,) = flow.transfers
    assert (record.status, record.error) == ("error", "queue pair 2: no reply to resynchronisation for 30 s")
    assert flow.events[-1][1:] == ("gave_up", record.error)


def test_losses_that_the_nic_repairs_are_counted() -> None:
    star = AgentStar(
        1, Schedule(10**7, HostNs(0)), transport="roce", profile=IDEAL, loss_probability=1e-4
    ).run(SECOND_NS)
    (record,) = star.flows[0][1].transfers
    assert record.status == "ok"
    assert record.retransmitted_bytes is not None
    assert record.retransmitted_bytes > 0


def test_same_seed_same_run() -> None:
    one, other = incast(3, SECOND_NS // 20), incast(3, SECOND_NS // 20)
    assert one.simulation.digest() == other.simulation.digest()
    assert [flow.rtt_samples for _, flow in one.flows] == [flow.rtt_samples for _, flow in other.flows]
    assert one.simulation.digest() != incast(3, SECOND_NS // 20, seed=2).simulation.digest()


def test_an_unfinished_transfer_has_its_retransmitted_bytes() -> None:
    star = AgentStar(1, Schedule(10**9, HostNs(0)), transport="roce", loss_probability=1e-4).run(200 * 10**6)
    for queue_pair, flow in star.flows:
        (record,) = flow.transfers
        assert (record.status, record.end_ns) == ("unfinished", None)
        assert record.retransmitted_bytes == queue_pair.retransmitted_bytes > 0
