"""Every byte of a transfer is right, and none comes late, although its queue pairs are lost on the way.

Fixed before the first run: 10 Gb/s, MTU 1024, `cx3pro`, RC, memories that really carry bytes (the source's
random, the destination's zero), the figure is the bytes of a lost queue pair that land in the destination
after the transfer was reported complete: none; and the digests of both memories are equal then.

- cut: 64 MB; the receiver's cable is cut from 20 ms on for 2 s, which kills both queue pairs.
- detour: a WRITE of 4 MB; two ways of equal length, of which the one that the first queue pair takes has
  1 Mb/s, so that packets of the lost queue pair still arrive when everything has gone over the other one.

A cut alone leaves nothing behind that could come late. And only WRITEs are dangerous: a card that has not
been reset takes them, while responses to READs that it no longer waits for go nowhere.
"""

from typing import Literal, NamedTuple, cast

import pytest
from helpers.hostile_network import SEAL

from rogue.agent.core.actions import ReadyQueuePair, ResetQueuePair
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.lane import Reports
from rogue.agent.core.library import LibraryAction
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_nic import Fabric
from rogue.agent.drivers.simulated_path import SimulatedLibrary, SimulatedPath, open_path
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
    """What a transfer left behind; `late_bytes` is the figure."""

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
    path = open_path(cast("Fabric", simulation), "h0", "h1", settings=settings(), mtu_bytes=MTU_BYTES)
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
    fabric = cast("Fabric", simulation)
    main, shadow = (
        fabric.connect("h0", "h1", mtu_bytes=MTU_BYTES, retry_count=1, timeout_exponent=14, path_seed=seed)
        for seed in ((0, 1) if has_slow_news else (1, 0))
    )
    side_channel = (fabric.datagram_queue_pair("h0"), fabric.datagram_queue_pair("h1"))
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
