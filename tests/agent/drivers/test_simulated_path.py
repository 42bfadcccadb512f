"""Tests: the simulated path between a requester and its library."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest
from helpers.fake_network import DELAY_NS, LINE_RATE_BPS, MTU_BYTES, FakeDatagrams, FakeNetwork

from rogue.agent.core.actions import Verb
from rogue.agent.core.application import Schedule, TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.immediates import batch_immediate, batch_of, rate_immediate
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.resync import Resync, Resynced, decode, encode
from rogue.agent.core.settings import Instruments
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.replay import replay
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_nic import NicQueuePair
from rogue.agent.drivers.simulated_path import (
    PROCESSING_NS,
    Arrivals,
    SimulatedLibrary,
    SimulatedPath,
    open_path,
)

SECOND_NS = 10**9
MS = 10**6
LINK = LinkFacts(LINE_RATE_BPS, MTU_BYTES, rate_step_bps=100_000_000)
SIZE_BYTES = 100_000_000


def flow_over(
    network: FakeNetwork,
    schedule: Schedule,
    transport: str = "rogue",
    log: io.StringIO | None = None,
    **overrides: object,
) -> SimulatedFlow:
    settings = settings_for(transport, LINE_RATE_BPS, overrides)
    path = open_path(network, "a", "b", settings=settings, mtu_bytes=MTU_BYTES)
    path = replace(path, has_memory=True)
    flow = SimulatedFlow(
        network,
        path,
        settings=settings,
        link=LINK,
        schedule=schedule,
        record_rtt=True,
        record_inputs=log,
    )
    flow.start()
    return flow


def cut(start_ns: int, end_ns: int) -> FakeNetwork:
    return FakeNetwork(loses=lambda now_ns: start_ns <= now_ns < end_ns)


def holes(network: FakeNetwork, size_bytes: int) -> int:
    """Bytes of the transfer that were written nowhere."""
    written: set[int] = set()
    for _, _, offset_bytes, length_bytes in network.writes:
        written.update(range(offset_bytes // 32, -(-(offset_bytes + length_bytes) // 32)))
    return -(-size_bytes // 32) - len(written)


@pytest.mark.parametrize("verb", ["write", "read"])
def test_a_transfer_survives_a_cut_of_two_seconds_that_kills_both_queue_pairs(verb: Verb) -> None:
    network = cut(20 * MS, 2020 * MS)
    flow = flow_over(network, Schedule(SIZE_BYTES, HostNs(0), verb=verb))
    network.run_until(10 * SECOND_NS)
    (record,) = flow.transfers
    assert (record.status, record.error) == ("ok", None)
    assert record.end_ns is not None
    assert record.end_ns > 2020 * MS
    assert holes(network, SIZE_BYTES) == 0
    assert record.retransmitted_bytes is not None
    assert record.retransmitted_bytes > 0
    assert [event.event for event in flow.events][:3] == ["qp_failed", "reset", "shadow_switch"]
    assert [event.event for event in flow.events].count("resynchronised") == 2
    assert max(t_ns for t_ns, *_ in network.writes) <= record.end_ns, "nothing is written after the report"


def test_each_message_is_delivered_once_although_verbs_are_posted_again() -> None:
    """A cut of 140 ms kills the first queue pair after its SENDs arrived, while their ACKs are lost."""
    network = cut(20 * MS + 20_000, 160 * MS)
    flow = flow_over(network, Schedule(30_000_000, HostNs(0), verb="send", verb_bytes=8192))
    network.run_until(5 * SECOND_NS)
    assert flow.library is not None
    assert flow.transfers[0].status == "ok"
    assert "shadow_switch" in [event.event for event in flow.events]
    assert flow.library.delivered_messages == -(-30_000_000 // 8192)
    assert flow.library.delivered_bytes == 30_000_000
    assert flow.library.mistakes == []


def test_a_peer_that_is_gone_is_given_up_after_thirty_seconds() -> None:
    network = cut(20 * MS, 100 * SECOND_NS)
    flow = flow_over(network, Schedule(SIZE_BYTES, HostNs(0)))
    network.run_until(60 * SECOND_NS)
    (record,) = flow.transfers
    assert record.status == "error"
    assert record.error == "queue pair 1: no reply to resynchronisation for 30 s"
    assert record.end_ns is not None
    assert 30 * SECOND_NS < record.end_ns < 31 * SECOND_NS
    assert flow.events[-1].event == "gave_up"


def test_a_read_is_paced_at_the_peer_and_fills_the_link() -> None:
    network = FakeNetwork()
    flow = flow_over(network, Schedule(SIZE_BYTES, HostNs(0), verb="read"))
    network.run_until(SECOND_NS)
    (record,) = flow.transfers
    assert record.end_ns is not None
    assert SIZE_BYTES * 8e9 / record.end_ns > 0.85 * LINE_RATE_BPS * 1024 / 1106
    accepted = [sample.rtt_ns for sample in flow.rtt_samples if sample.accepted]
    assert accepted
    assert all(abs(rtt_ns - 2 * DELAY_NS) < 2000 for rtt_ns in accepted), "two delays, to one packet gap"


def test_uc_moves_what_is_not_lost_and_reports_it_as_sent() -> None:
    """Of what arrives every 63rd is lost, batch or acknowledgement; the transfer ends all the same."""
    arrivals = iter(range(10**9))
    network = FakeNetwork(loses=lambda now_ns: next(arrivals) % 63 == 62)
    flow = flow_over(network, Schedule(SIZE_BYTES, HostNs(0)), "rogue-uc")
    network.run_until(5 * SECOND_NS)
    (record,) = flow.transfers
    assert record.status == "ok"
    delivered = sum(length_bytes for *_, length_bytes in network.writes)
    assert 0.95 * SIZE_BYTES < delivered < SIZE_BYTES
    assert flow.library is not None
    assert (flow.library.mistakes, flow.mistakes) == ([], 0)


def test_uc_estimates_are_free_of_the_librarys_time() -> None:
    flow = flow_over(network := FakeNetwork(), Schedule(SIZE_BYTES, HostNs(0)), "rogue-uc")
    network.run_until(SECOND_NS)
    accepted = [sample.rtt_ns for sample in flow.rtt_samples if sample.accepted]
    assert accepted
    assert all(abs(rtt_ns - 2 * DELAY_NS) < 2000 for rtt_ns in accepted)


def test_native_roce_over_uc_needs_no_acknowledgement() -> None:
    flow = flow_over(network := FakeNetwork(), Schedule(SIZE_BYTES, HostNs(0)), "roce-uc")
    network.run_until(SECOND_NS)
    assert flow.transfers[0].status == "ok"
    assert flow.rtt_samples == []


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_what_happened_can_be_replayed(transport: str) -> None:
    log = io.StringIO()
    network = cut(20 * MS, 200 * MS)
    flow_over(network, Schedule(30_000_000, HostNs(0)), transport, log)
    network.run_until(5 * SECOND_NS)
    assert replay(log.getvalue().splitlines()) > 500


@pytest.mark.parametrize("transport", ["rogue", "rogue-uc"])
def test_the_oracle_is_asked_by_the_estimator_of_its_name_only(transport: str) -> None:
    """It tells the two delays and nothing else, to the rounding of one nanosecond."""
    schedule = Schedule(10_000_000, HostNs(0))
    flow = flow_over(network := FakeNetwork(), schedule, transport, estimator="nic_tx_stamp")
    network.run_until(SECOND_NS)
    acknowledgement_ns = 102 * 8 / 10 if transport == "rogue-uc" else 0
    accepted = [sample.rtt_ns for sample in flow.rtt_samples if sample.accepted]
    assert accepted
    assert all(abs(rtt_ns - 2 * DELAY_NS - acknowledgement_ns) <= 5 for rtt_ns in accepted)


def test_noise_comes_from_the_stream_that_is_passed_in() -> None:
    settings = settings_for("rogue", LINE_RATE_BPS, {"rtt_noise_ns": 40_000})
    network = FakeNetwork()
    draws = iter([0.0, 0.5] * 10**6)
    flow = SimulatedFlow(
        network,
        open_path(network, "a", "b", settings=settings, mtu_bytes=MTU_BYTES),
        settings=settings,
        link=LINK,
        schedule=Schedule(10_000_000, HostNs(0)),
        record_rtt=True,
        instruments=Instruments(random=draws.__next__),
    )
    flow.start()
    network.run_until(SECOND_NS)
    rtts_ns = [sample.rtt_ns for sample in flow.rtt_samples]
    assert all(
        abs(rtt_ns - 2 * DELAY_NS - noise_ns) < 2000
        for rtt_ns, noise_ns in zip(rtts_ns, [0, 20_000] * 999, strict=False)
    )


def test_without_a_shadow_there_is_no_side_channel() -> None:
    settings = settings_for("roce", LINE_RATE_BPS, {})
    path = open_path(FakeNetwork(), "a", "b", settings=settings, mtu_bytes=MTU_BYTES)
    assert (path.shadow, path.side_channel, len(path.pairs)) == (None, None, 1)
    assert path.peer(LINK).shadow is None


class End:
    """Has delivered as much as a test says."""

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
    told: list[tuple[int, int]] = []
    return Arrivals(records, lambda number, now: told.append((number, now))), records, told


def post(watch: Arrivals, end: End, transfer_id: int, offset_bytes: int, length_bytes: int) -> None:
    watch.on_posted(cast("NicQueuePair", end), length_bytes, transfer_id, offset_bytes + length_bytes)


def test_a_transfer_has_arrived_with_the_last_of_its_verbs() -> None:
    watch, records, told = arrivals(100, 50)
    end = End(1)
    post(watch, end, 1, 0, 60)
    post(watch, end, -1, 0, 0)
    post(watch, end, 1, 60, 40)
    post(watch, end, 2, 0, 50)
    end.deliver(60, 10)
    assert told == []
    end.deliver(100, 20)
    end.deliver(150, 30)
    assert told == [(1, 20), (2, 30)]
    assert [record.arrived_ns for record in records] == [20, 30]


def test_what_a_lost_queue_pair_did_not_bring_comes_over_the_other_one() -> None:
    """60 of 100 bytes were delivered; the verb of the other 40 is posted again, and so later on the first."""
    watch, _, told = arrivals(100, 10)
    lost, other = End(1), End(2)
    post(watch, lost, 1, 0, 60)
    post(watch, lost, 1, 60, 40)
    lost.deliver(60, 10)
    post(watch, other, 1, 60, 40)
    other.deliver(40, 50)
    assert told == [(1, 50)]
    watch.on_ready(cast("NicQueuePair", lost))
    post(watch, lost, 2, 0, 10)
    lost.deliver(70, 60)
    assert told == [(1, 50), (2, 60)]


def test_one_that_arrived_and_is_sent_again_arrives_once() -> None:
    watch, records, told = arrivals(100)
    lost, other = End(1), End(2)
    post(watch, lost, 1, 0, 100)
    lost.deliver(100, 10)
    post(watch, other, 1, 0, 100)
    other.deliver(100, 99)
    watch.on_done(1, HostNs(120))
    assert (told, records[0].arrived_ns) == ([(1, 10)], 10)


def test_what_is_done_has_arrived() -> None:
    watch, records, told = arrivals(100)
    watch.on_done(1, HostNs(7))
    assert (told, records[0].arrived_ns) == ([(1, 7)], 7)


GBPS = 10**9


def served(transport: str) -> tuple[FakeNetwork, SimulatedPath, SimulatedLibrary]:
    network = FakeNetwork()
    path = open_path(network, "a", "b", settings=settings_for(transport, 10 * GBPS, {}), mtu_bytes=1024)
    for requester, _ in path.pairs:
        requester.attach(lambda now, entries: None, lambda now, state: None)
    return network, path, SimulatedLibrary(network, path)


def test_a_rate_is_applied_a_little_later_to_the_passive_end() -> None:
    network, path, _ = served("rogue")
    requester, passive = path.main
    requester.post_write(1, 0, False, imm=rate_immediate(3 * GBPS))
    arrival_ns = round(102 * 8 / 10) + DELAY_NS
    network.run_until(arrival_ns + PROCESSING_NS - 1)
    assert vars(passive)["rate_bps"] == 10 * GBPS
    network.run_until(arrival_ns + PROCESSING_NS)
    assert vars(passive)["rate_bps"] == 3 * GBPS


def test_an_acknowledgement_over_uc_says_how_long_the_library_took() -> None:
    network, path, _ = served("rogue-uc")
    acknowledgements: list[int | None] = []
    requester, _ = path.main
    requester.attach(
        lambda now, entries: None,
        lambda now, state: None,
        lambda now, entries: acknowledgements.extend(imm for *_, imm in entries),
    )
    requester.post_write(1, 1000, True, imm=batch_immediate(5))
    network.run_until(GBPS)
    (imm,) = acknowledgements
    assert imm is not None
    assert batch_of(imm) == (5, PROCESSING_NS)


def test_a_request_resets_the_passive_end_and_has_a_reply() -> None:
    network, path, _ = served("rogue")
    assert path.side_channel is not None
    requester, library = path.side_channel
    heard: list[bytes] = []
    requester.attach(lambda now, datagrams: heard.extend(payload for *_, payload in datagrams))
    _, passive = path.main
    assert path.seal is not None
    requester.post_send(0, library, encode(Resync(1, passive.qp_num, 0), path.seal))
    network.run_until(GBPS)
    assert decode(heard[0], path.seal) == Resynced(1)
    assert (vars(passive)["rq_psn"], vars(passive)["sq_psn"]) == path.seal.psns(1)


@pytest.mark.parametrize("payload", [b"", b"x" * 40])
def test_nonsense_is_dropped_and_kept(payload: bytes) -> None:
    network, path, library = served("rogue")
    assert path.side_channel is not None
    requester, at_library = path.side_channel
    assert isinstance(requester, FakeDatagrams)
    requester.post_send(0, at_library, payload)
    network.run_until(GBPS)
    assert len(library.mistakes) == 1


def test_messages_of_the_application_are_counted() -> None:
    network, path, library = served("rogue")
    requester, _ = path.main
    for wr_id, size_bytes in enumerate((10, 20, 30)):
        requester.post_send(wr_id, size_bytes, False)
    network.run_until(GBPS)
    assert (library.delivered_messages, library.delivered_bytes) == (3, 60)
