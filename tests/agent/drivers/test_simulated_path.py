"""Whole flows with library, shadow and side channel, over a network that can be cut."""

import io
from dataclasses import replace

import pytest
from helpers.fake_network import DELAY_NS, LINE_RATE_BPS, MTU_BYTES, FakeNetwork

from rogue.agent.core.actions import Verb
from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.settings import Instruments
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.replay import replay
from rogue.agent.drivers.simulated import SimulatedFlow
from rogue.agent.drivers.simulated_path import open_path

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
