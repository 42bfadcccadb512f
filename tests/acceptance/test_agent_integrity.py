"""Check every byte of transfers whose queue pairs are lost, and replay recorded inputs to identical actions.

Bytes, fixed before the first run: 10 Gb/s, MTU 1024, `cx3pro`, RC, memories that carry bytes. After the
transfer is reported complete no byte of a lost queue pair reaches the destination, and the digests of both
memories are equal.
- cut: 64 MB; the receiver's cable is cut from 20 ms on for 2 s, which kills both queue pairs.
- detour: a WRITE of 4 MB over two paths of equal length. The path of the first queue pair has 1 Mb/s, so
  packets of the
  lost queue pair still arrive after everything went over the other path.
Only WRITEs are dangerous: a card that was not reset accepts them, but drops READ responses that it no longer
expects.

Replay: every connection of every run is recorded and replayed, ten seeds per workload, for WRITE and READ
over RC and WRITE over UC. `many_pairs` keeps more connections busy than a card has limiters; `cut` loses
queue pairs.
"""

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from helpers.experiments import cell_of
from helpers.hostile_network import SEAL

from rogue.agent.core.actions import ReadyQueuePair, ResetQueuePair
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.lane import Reports
from rogue.agent.core.library import LibraryAction
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.replay import replay
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_path import SimulatedLibrary, SimulatedPath, open_path
from rogue.harness.testbeds.simulator import SimulatorTestbed, flows
from rogue.simulator import CX3PRO, Memory, Simulation

RATE_BPS = 10**10
SLOW_BPS = 10**6
MTU_BYTES = 1024
CUT_BYTES = 64_000_000
DETOUR_BYTES = 4_000_000
MS = 10**6
SECOND_NS = 10**9
RcVerb = Literal["write", "read"]


class Transferred(NamedTuple):
    """Result of a transfer; `late_bytes` is the figure."""

    flow: SimulatedFlow
    end_ns: int
    is_equal: bool
    late_bytes: int


def settings() -> TransportSettings:
    return settings_for("rogue", RATE_BPS, {})


def transferred(simulation: Simulation, path: SimulatedPath, verb: RcVerb, size_bytes: int) -> Transferred:
    """Run one transfer between h0, which posts the verbs, and h1."""
    simulation.record_memory_writes()
    local, remote = memories(simulation, verb, size_bytes)
    link = LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=CX3PRO.rate_step_bps)
    flow = SimulatedFlow(
        simulation,
        path.bound(local, remote),
        settings=settings(),
        link=link,
        schedule=Schedule(size_bytes, HostNs(0), verb=verb),
        record_rtt=False,
    )
    flow.start()
    simulation.run_until(10 * SECOND_NS)
    simulation.check_invariants()
    (record,) = flow.transfers
    assert (record.status, record.error) == ("ok", None)
    assert record.end_ns is not None
    writes = simulation.memory_write_table()
    is_late = writes["t_ps"] >= (record.end_ns + 1) * 1000
    late_bytes = int(writes["length_bytes"][is_late].sum())
    return Transferred(flow, record.end_ns, local.digest() == remote.digest(), late_bytes)


def memories(simulation: Simulation, verb: RcVerb, size_bytes: int) -> tuple[Memory, Memory]:
    seeds = (7, None) if verb == "write" else (None, 7)
    local, remote = (
        simulation.register_memory(host, size_bytes, seed=seed)
        for host, seed in zip(("h0", "h1"), seeds, strict=True)
    )
    assert local.digest() != remote.digest()
    return local, remote


def after_a_cut(verb: RcVerb) -> Transferred:
    simulation = Simulation(seed=1)
    simulation.add_switch("s0", buffer_bytes=9_000_000, alpha=1.0)
    for host in ("h0", "h1"):
        simulation.add_host(host, CX3PRO)
        simulation.add_link(host, "s0", rate_bps=RATE_BPS, delay_ps=10**6)
    path = open_path(simulation, "h0", "h1", settings=settings(), mtu_bytes=MTU_BYTES)
    simulation.cut_link("h1", "s0", start_ns=20 * MS, duration_ns=2 * SECOND_NS)
    return transferred(simulation, path, verb, CUT_BYTES)


def over_a_detour(*, has_slow_news: bool) -> Transferred:
    """h0 - s0 - (slow or fast) - s1 - h1; the route seeds send only the first queue pair the slow way.

    `has_slow_news`: questions to the peer's library go the slow way as well, behind what is late.
    """
    simulation = Simulation(seed=1)
    for host in ("h0", "h1"):
        simulation.add_host(host, CX3PRO)
    for switch in ("s0", "slow", "fast", "s1"):
        simulation.add_switch(switch, buffer_bytes=None, alpha=1.0)
    for switch in ("fast", "slow") if has_slow_news else ("slow", "fast"):
        simulation.add_link("s0", switch, rate_bps=RATE_BPS, delay_ps=10**6)
    simulation.add_link("slow", "s1", rate_bps=SLOW_BPS, delay_ps=10**6)
    simulation.add_link("fast", "s1", rate_bps=RATE_BPS, delay_ps=10**6)
    for host, switch in (("h0", "s0"), ("h1", "s1")):
        simulation.add_link(host, switch, rate_bps=RATE_BPS, delay_ps=10**6)
    main, shadow = (
        simulation.connect(
            "h0", "h1", mtu_bytes=MTU_BYTES, retry_count=1, timeout_exponent=14, path_seed=seed
        )
        for seed in ((0, 1) if has_slow_news else (1, 0))
    )
    side_channel = (simulation.datagram_queue_pair("h0"), simulation.datagram_queue_pair("h1"))
    return transferred(
        simulation, SimulatedPath(main, shadow, side_channel, seal=SEAL), "write", DETOUR_BYTES
    )


@pytest.mark.parametrize("verb", ["write", "read"])
def test_every_byte_is_right_after_a_cut_of_two_seconds(verb: RcVerb) -> None:
    done = after_a_cut(verb)
    assert done.is_equal
    assert done.late_bytes == 0
    assert done.end_ns > 2020 * MS
    assert [event.event for event in done.flow.events].count("reset") == 2


@pytest.mark.parametrize("has_slow_news", [False, True])
def test_no_byte_of_a_lost_queue_pair_lands_after_the_report(has_slow_news: bool) -> None:
    done = over_a_detour(has_slow_news=has_slow_news)
    assert done.is_equal
    assert done.late_bytes == 0
    assert [event.event for event in done.flow.events].count("qp_failed") == 1


def test_the_same_figure_sees_a_peer_that_is_not_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out = SimulatedLibrary._carry_out

    def without_reset(self: SimulatedLibrary, action: LibraryAction) -> None:
        if not isinstance(action, ResetQueuePair | ReadyQueuePair):
            carry_out(self, action)

    monkeypatch.setattr(SimulatedLibrary, "_carry_out", without_reset)
    assert over_a_detour(has_slow_news=False).late_bytes > 0


def test_the_same_figure_sees_a_report_that_does_not_wait_for_the_peer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Reports, "suspect", lambda self, transfer_ids: None)
    assert over_a_detour(has_slow_news=True).late_bytes > 0


SEEDS = (1, 2, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 11)))
STAR = "topology: {kind: star, hosts: 10, rate: 10Gbps, delay: 1us, mtu: 1024, nic: cx3pro}"
WORKLOADS = {
    "incast": (STAR, "workload: {kind: incast, senders: 4, size: 1MB, verb: VERB, repeat_for: 10ms}"),
    "staggered": (STAR, "workload: {kind: staggered, senders: 3, step: 3ms, size: 500KB, verb: VERB}"),
    "many_pairs": (STAR, "workload: {kind: many_pairs, hosts: 10, load: 0.9, arrive_for: 4ms}"),
    "ping": (STAR, "workload: {kind: ping, size: 16KiB, verb: VERB, count: 100}"),
    "rtt_accuracy": (STAR, "workload: {kind: rtt_accuracy, run_for: 20ms, size: 4MB, verb: VERB}"),
    "parking_lot": (
        "topology: {kind: parking_lot, rate: 10Gbps, delay: 1us, mtu: 1024, nic: cx3pro}",
        "workload: {kind: incast, senders: 4, size: 1MB, verb: VERB, repeat_for: 10ms}",
    ),
    "cut": (
        STAR,
        "workload: {kind: incast, senders: 2, size: 20MB, verb: VERB}\n"
        "faults: [{kind: link_cut, target: h0, at: 5ms, duration: 200ms}]",
    ),
}
CARRIERS = {"rc": ("rogue", "write"), "uc": ("rogue-uc", "write"), "read": ("rogue", "read")}
POINTS = [
    (workload, carrier)
    for workload in WORKLOADS
    for carrier in CARRIERS
    if not (workload == "many_pairs" and carrier == "read")
]


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[io.StringIO]]:
    """One log per connection that a testbed makes."""
    written: list[io.StringIO] = []

    def recorded(*arguments: object, **named: object) -> SimulatedFlow:
        written.append(io.StringIO())
        make = partial(SimulatedFlow, record_inputs=written[-1])
        return make(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(flows, "SimulatedFlow", recorded)
    return written


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("workload", "carrier"), POINTS)
def test_the_same_inputs_give_the_same_actions(
    workload: str, carrier: str, seed: int, tmp_path: Path, logs: list[io.StringIO]
) -> None:
    transport, verb = CARRIERS[carrier]
    topology, traffic = WORKLOADS[workload]
    lines = ["name: small", topology, traffic.replace("VERB", verb), f"transports: [{transport}]"]
    text = "\n".join([*lines, f"seed: {seed}", "measure: [rtt]"]) + "\n"
    result = SimulatorTestbed().run(cell_of(tmp_path, text=text), lambda _fraction: None)
    assert result.failure is None
    recorded = [log.getvalue() for log in logs]
    inputs = sum(replay(log.splitlines()) for log in recorded)
    assert inputs > 200
    if workload == "many_pairs" and carrier == "rc":
        assert any('["on_turn",[false]' in log for log in recorded)
    if workload == "cut" and carrier != "uc":
        assert any("ReadyQueuePair" in log for log in recorded)
