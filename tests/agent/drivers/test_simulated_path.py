"""The path between a requester and its library, over the engine: services, recovery, oracles and arrivals."""

import io
from collections.abc import Callable

import pytest
from helpers.networks import counter

from rogue.agent.core.application import Schedule, TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.immediates import batch_immediate, batch_of
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.resync import Resync, Resynced, decode, encode
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_path import PROCESSING_NS, Arrivals, SimulatedLibrary, open_path
from rogue.simulator import IDEAL, Simulation

SECOND_NS = 10**9
MS = 10**6
RATE_BPS = 10**10
MTU_BYTES = 1024
LINK = LinkFacts(RATE_BPS, MTU_BYTES, rate_step_bps=IDEAL.rate_step_bps)
IDLE_RTT_NS = (2_000, 8_000)
"""Bounds: four link delays of 1 us, and packets of up to 1.1 KB that each switch port forwards whole."""


def two_hosts(loss_probability: float = 0.0) -> Simulation:
    simulation = Simulation(seed=1)
    simulation.add_switch("s0", buffer_bytes=9_000_000, alpha=1.0)
    for host in ("h0", "h1"):
        simulation.add_host(host, IDEAL)
        simulation.add_link(host, "s0", rate_bps=RATE_BPS, delay_ps=10**6, loss_probability=loss_probability)
    return simulation


def flow_over(
    simulation: Simulation,
    schedule: Schedule,
    transport: str = "rogue",
    *,
    log: io.StringIO | None = None,
    instruments: Instruments = NO_INSTRUMENTS,
    **overrides: object,
) -> SimulatedFlow:
    settings = settings_for(transport, RATE_BPS, overrides)
    path = open_path(simulation, "h0", "h1", settings=settings, mtu_bytes=MTU_BYTES)
    flow = SimulatedFlow(
        simulation,
        path,
        settings=settings,
        link=LINK,
        schedule=schedule,
        record_rtt=True,
        record_inputs=log,
        instruments=instruments,
    )
    flow.start()
    return flow


def accepted_ns(flow: SimulatedFlow) -> list[int]:
    found = [sample.rtt_ns for sample in flow.rtt_samples if sample.accepted]
    assert found
    return found


def test_each_message_is_delivered_once_although_verbs_are_posted_again() -> None:
    simulation = two_hosts()
    simulation.cut_link("h1", "s0", start_ns=5 * MS, duration_ns=150 * MS)
    flow = flow_over(simulation, Schedule(20_000_000, HostNs(0), verb="send", verb_bytes=8192))
    simulation.run_until(2 * SECOND_NS)
    assert flow.library is not None
    assert flow.transfers[0].status == "ok"
    assert "shadow_switch" in [event.event for event in flow.events]
    assert flow.library.delivered_messages == -(-20_000_000 // 8192)
    assert flow.library.delivered_bytes == 20_000_000
    assert flow.library.mistakes == []


def test_a_read_is_paced_at_the_peer_and_fills_the_link() -> None:
    simulation, size_bytes = two_hosts(), 50_000_000
    flow = flow_over(simulation, Schedule(size_bytes, HostNs(0), verb="read"))
    simulation.run_until(SECOND_NS)
    (record,) = flow.transfers
    assert record.end_ns is not None
    assert size_bytes * 8e9 / record.end_ns > 0.8 * RATE_BPS * 1024 / 1106
    assert IDLE_RTT_NS[0] < min(accepted_ns(flow)) < IDLE_RTT_NS[1]


def test_uc_estimates_exclude_the_processing_time_of_the_library() -> None:
    simulation = two_hosts(loss_probability=1e-4)
    flow = flow_over(simulation, Schedule(50_000_000, HostNs(0)), "rogue-uc")
    simulation.run_until(2 * SECOND_NS)
    assert flow.transfers[0].status == "ok"
    assert counter(simulation, "lost_packets") > 0
    assert flow.library is not None
    assert (flow.library.mistakes, flow.mistakes) == ([], 0)
    assert IDLE_RTT_NS[0] < min(accepted_ns(flow)) < IDLE_RTT_NS[1]


def test_native_roce_over_uc_needs_no_acknowledgement() -> None:
    flow = flow_over(simulation := two_hosts(), Schedule(10_000_000, HostNs(0)), "roce-uc")
    simulation.run_until(SECOND_NS)
    assert flow.transfers[0].status == "ok"
    assert flow.rtt_samples == []


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_the_oracle_estimator_uses_departure_times(transport: str) -> None:
    """The default estimator differs from the oracle by less than a packet at line rate."""
    schedule, found = Schedule(5_000_000, HostNs(0)), []
    for overrides in ({"estimator": "nic_tx_stamp"}, {}):
        flow = flow_over(simulation := two_hosts(), schedule, transport, **overrides)
        simulation.run_until(SECOND_NS)
        found.append(min(accepted_ns(flow)))
    assert abs(found[0] - found[1]) < 1106 * 8 / 10


def test_noise_comes_from_the_given_stream() -> None:
    draws = iter([0.0, 0.5] * 10**6)
    simulation = two_hosts()
    schedule, instruments = Schedule(5_000_000, HostNs(0)), Instruments(random=draws.__next__)
    flow = flow_over(simulation, schedule, instruments=instruments, rtt_noise_ns=200_000)
    simulation.run_until(SECOND_NS)
    rtts_ns = [sample.rtt_ns for sample in flow.rtt_samples]
    assert max(rtts_ns[::2]) < 100_000 < min(rtts_ns[1::2])


def test_without_a_shadow_there_is_no_side_channel() -> None:
    settings = settings_for("roce", RATE_BPS, {})
    path = open_path(two_hosts(), "h0", "h1", settings=settings, mtu_bytes=MTU_BYTES)
    assert (path.shadow, path.side_channel, len(path.pairs)) == (None, None, 1)
    assert path.peer(LINK).shadow is None


def test_an_acknowledgement_over_uc_carries_the_librarys_processing_time() -> None:
    simulation = two_hosts()
    settings = settings_for("rogue-uc", RATE_BPS, {})
    path = open_path(simulation, "h0", "h1", settings=settings, mtu_bytes=MTU_BYTES)
    acknowledgements: list[int | None] = []
    requester, _ = path.main
    requester.attach(
        lambda now, entries: None,
        lambda now, state: None,
        lambda now, entries: acknowledgements.extend(imm for *_, imm in entries),
    )
    SimulatedLibrary(simulation, path)
    requester.post_write(1, 1000, True, imm=batch_immediate(5))
    simulation.run_until(SECOND_NS)
    (imm,) = acknowledgements
    assert imm is not None
    assert batch_of(imm) == (5, PROCESSING_NS)


def test_the_library_replies_to_a_request_and_counts_invalid_ones() -> None:
    simulation = two_hosts()
    settings = settings_for("rogue", RATE_BPS, {})
    path = open_path(simulation, "h0", "h1", settings=settings, mtu_bytes=MTU_BYTES)
    path.main[0].attach(lambda now, entries: None, lambda now, state: None)
    library = SimulatedLibrary(simulation, path)
    assert path.side_channel is not None and path.seal is not None
    requester, passive = path.side_channel
    received: list[bytes] = []
    requester.attach(lambda now, datagrams: received.extend(payload for *_, payload in datagrams))
    for payload in (b"x" * 40, encode(Resync(1, path.main[1].qp_num, 0), path.seal)):
        requester.post_send(0, passive, payload)
    simulation.run_until(SECOND_NS)
    assert [decode(payload, path.seal) for payload in received] == [Resynced(1)]
    assert len(library.mistakes) == 1


class End:
    """Delivers bytes when the test calls `deliver`."""

    def __init__(self, qp_num: int) -> None:
        self.qp_num = qp_num
        self.delivered_bytes = 0
        self._waits: list[tuple[int, Callable[[int], object]]] = []

    def call_when_delivered(self, delivered_bytes: int, callback: Callable[[int], object]) -> None:
        self._waits.append((delivered_bytes, callback))

    def deliver(self, delivered_bytes: int, now_ns: int) -> None:
        self.delivered_bytes = delivered_bytes
        for threshold, callback in self._waits:
            if threshold <= delivered_bytes:
                callback(now_ns)
        self._waits = [wait for wait in self._waits if wait[0] > delivered_bytes]


def arrivals(*sizes_bytes: int) -> tuple[Arrivals, list[TransferRecord], list[tuple[int, int]]]:
    records = [TransferRecord(number, size, HostNs(0)) for number, size in enumerate(sizes_bytes, 1)]
    reported: list[tuple[int, int]] = []
    return Arrivals(records, lambda number, now: reported.append((number, now))), records, reported


def post(watch: Arrivals, end: End, transfer_id: int, offset_bytes: int, length_bytes: int) -> None:
    watch.on_posted(end, length_bytes, transfer_id, offset_bytes + length_bytes)


def test_a_transfer_has_arrived_with_the_last_of_its_verbs() -> None:
    watch, records, reported = arrivals(100, 50)
    end = End(1)
    post(watch, end, 1, 0, 60)
    post(watch, end, -1, 0, 0)
    post(watch, end, 1, 60, 40)
    post(watch, end, 2, 0, 50)
    end.deliver(60, 10)
    assert reported == []
    end.deliver(100, 20)
    end.deliver(150, 30)
    assert reported == [(1, 20), (2, 30)]
    assert [record.arrived_ns for record in records] == [20, 30]


def test_undelivered_bytes_arrive_over_the_other_queue_pair() -> None:
    """60 of 100 bytes were delivered; the verb of the other 40 is posted again, and so later on the first."""
    watch, _, reported = arrivals(100, 10)
    lost, other = End(1), End(2)
    post(watch, lost, 1, 0, 60)
    post(watch, lost, 1, 60, 40)
    lost.deliver(60, 10)
    post(watch, other, 1, 60, 40)
    other.deliver(40, 50)
    assert reported == [(1, 50)]
    watch.on_ready(lost)
    post(watch, lost, 2, 0, 10)
    lost.deliver(70, 60)
    assert reported == [(1, 50), (2, 60)]


def test_a_repeated_transfer_arrives_once() -> None:
    watch, records, reported = arrivals(100, 5)
    lost, other = End(1), End(2)
    post(watch, lost, 1, 0, 100)
    lost.deliver(100, 10)
    post(watch, other, 1, 0, 100)
    other.deliver(100, 99)
    for transfer_id in (1, 2):
        watch.on_done(transfer_id, HostNs(120))
    assert reported == [(1, 10), (2, 120)], "a READ has arrived when it is done"
    assert [record.arrived_ns for record in records] == [10, 120]
