"""TCP in a network, and both halves over a path that loses, repeats, reorders and marks."""

import heapq
from dataclasses import dataclass, field
from typing import Any

import pytest
from helpers.networks import GBPS, MICROSECOND_PS, MILLISECOND_NS, Host, Star, connect, counter, direct
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rogue.simulator._reference import Requester, Responder

from rogue.simulator import Marking, QueuePair, QueuePairError, Reliability, Simulation

SEGMENT_BYTES, WIRE_BYTES, ACK_WIRE_BYTES = 1460, 1538, 84


def tcp(
    simulation: Simulation, a: str, b: str, name: str = "reno", mtu_bytes: int = 1460, **parameters: float
) -> QueuePair:
    return connect(simulation, a, b, mtu_bytes=mtu_bytes, reliability=Reliability(name, parameters))


def goodput(name: str, mtu_bytes: int, **parameters: float) -> float:
    """Payload over line rate of one flow, from 2 to 12 ms."""
    simulation = Star(hosts=2).build()
    simulation.sample_throughput(2 * MILLISECOND_NS)
    tcp(simulation, "h0", "h1", name, mtu_bytes, **parameters).post_write(1, 30_000_000, True)
    simulation.run_until(12 * MILLISECOND_NS)
    delivered_bytes = simulation.throughput_table()["delivered_bytes"][1:6]
    return float(delivered_bytes.sum() * 8 / 10e-3 / (10 * GBPS))


@pytest.mark.parametrize(
    ("name", "segment_bytes", "parameters"),
    [
        ("reno", 1460, {}),
        ("dctcp", 1460, {}),
        ("cubic", 1460, {}),
        ("reno", 1448, {"timestamps": 1}),
        ("iwarp", 1440, {}),
    ],
)
def test_goodput_is_the_payload_share_of_1538_bytes(
    name: str, segment_bytes: int, parameters: dict[str, float]
) -> None:
    assert goodput(name, segment_bytes, **parameters) == pytest.approx(segment_bytes / 1538, abs=1e-3)


def test_a_single_segment_to_the_picosecond() -> None:
    """1538 wire bytes there, an acknowledgement of 64 + 20 back, at 10 Gb/s over 1 us."""
    simulation = direct()
    simulation.record_oracle_rtt()
    tcp(simulation, "a", "b").post_write(1, SEGMENT_BYTES, True)
    simulation.run_until(MILLISECOND_NS)
    table = simulation.oracle_table()
    assert table["t_comp_ps"][0] == (WIRE_BYTES + ACK_WIRE_BYTES) * 800 + 2 * MICROSECOND_PS


def test_marks_keep_the_queue_of_dctcp_short() -> None:
    """K = 30 KB; four flows, 10 Gb/s: the queue stays near K, nothing is lost, the port is never idle."""
    marking = Marking(kmin_bytes=30_000, kmax_bytes=30_000, pmax=1, at="arrival")
    simulation = Star(hosts=5, buffer_bytes=9_000_000, marking=marking).build()
    for host in range(4):
        tcp(simulation, f"h{host}", "h4", "dctcp").post_write(1, 40_000_000, True)
    simulation.run_until(5 * MILLISECOND_NS)
    simulation.sample_queues(10_000)
    simulation.run_until(20 * MILLISECOND_NS)
    table = simulation.queue_table()
    waiting = table["bytes"][(table["port"] == "s0->h4") & (table["priority"] == 0)]
    assert waiting.max() < 90_000
    assert waiting.min() > 0
    assert table["marks"].sum() > 100
    assert counter(simulation, "drops") == counter(simulation, "retransmitted_packets") == 0


def test_losses_halve_reno_and_are_repaired() -> None:
    simulation = Star(hosts=3, buffer_bytes=100_000).build()
    hosts = [Host(tcp(simulation, f"h{n}", "h2")) for n in range(2)]
    for host in hosts:
        host.queue_pair.post_write(1, 5_000_000, True)
    simulation.run_until(1000 * MILLISECOND_NS)
    simulation.check_invariants()
    assert [host.statuses for host in hosts] == [[(1, 0)], [(1, 0)]]
    assert counter(simulation, "drops") > 0
    for host in hosts:
        assert host.queue_pair.delivered_bytes == 5_000_000


def test_a_connection_without_replies_fails() -> None:
    """1 + 2 + 4 ms of waiting, two retries in between."""
    simulation = direct()
    simulation.cut_link("a", "b", start_ns=0, duration_ns=10**9)
    queue_pair = tcp(simulation, "a", "b", rto_min_ns=1e6, delayed_ack_ns=1e5, retries=2)
    host = Host(queue_pair)
    queue_pair.post_write(1, 10_000, True)
    queue_pair.post_write(2, 10_000, True)
    simulation.run_until(8 * MILLISECOND_NS)
    assert host.statuses == [(1, 12), (2, 5)]
    assert host.events[0][0] // MILLISECOND_NS == 7
    simulation.run_until(100 * MILLISECOND_NS)
    simulation.check_invariants()
    with pytest.raises(QueuePairError):
        queue_pair.post_write(3, 1, True)


NAMES = ("reno", "dctcp", "cubic", "iwarp")


@dataclass
class Path:
    """Moves what both halves send; the next item of a list happens to a packet, and then nothing."""

    requester: Requester
    responder: Responder
    fates: list[str]
    now_ps: int = 0
    _events: list[tuple[int, int, str, Any]] = field(default_factory=list)
    _moved: int = 0
    _busy_until_ps: int = 0  # the sender's link

    def run(self) -> None:
        """Move packets and let timers expire until nothing is left to do."""
        self._send()
        while self._events or self._deadlines():
            due, *_ = self._deadlines() or [2**62]
            if self._events and self._events[0][0] <= due:
                self.now_ps, _, kind, packet = heapq.heappop(self._events)
                self._arrive(kind, packet)
            else:
                self._expire(due)
            self._send()
            self._check()

    def _deadlines(self) -> list[int]:
        deadlines = (self.requester.deadline_ps, self.responder.deadline_ps)
        return sorted(deadline for deadline in deadlines if deadline is not None)

    def _expire(self, due_ps: int) -> None:
        self.now_ps = max(self.now_ps, due_ps)
        if self.requester.deadline_ps is not None and self.requester.deadline_ps <= self.now_ps:
            assert self.requester.on_deadline(self.now_ps)
        if self.responder.deadline_ps is not None and self.responder.deadline_ps <= self.now_ps:
            self._acknowledge(self.responder.on_deadline(self.now_ps))

    def _send(self) -> None:
        while (packet := self.requester.next_packet) is not None:
            self._busy_until_ps = max(self._busy_until_ps, self.now_ps) + MICROSECOND_PS
            self.requester.send(self._busy_until_ps)
            self._move("segment", packet, self._busy_until_ps)

    def _acknowledge(self, acks: list[dict[str, Any]]) -> None:
        for ack in acks:
            self._move("ack", ack, self.now_ps)

    def _move(self, kind: str, packet: dict[str, Any], left_ps: int) -> None:
        fate = self.fates.pop() if self.fates else "arrives"
        copies = {"lost": 0, "twice": 2}.get(fate, 1)
        delay_ps = (200 if fate == "late" else 20) * MICROSECOND_PS
        for _ in range(copies):
            self._moved += 1
            entry = {**packet, "is_marked": fate == "marked"}
            heapq.heappush(self._events, (left_ps + delay_ps, self._moved, kind, entry))

    def _arrive(self, kind: str, packet: dict[str, Any]) -> None:
        if kind == "segment":
            self._acknowledge(self.responder.on_packet(packet.pop("number"), now_ps=self.now_ps, **packet))
        else:
            assert self.requester.on_acknowledgement(
                now_ps=self.now_ps,
                expected=packet["expected"],
                selective=packet["selective"],
                echoes_mark=packet["echoes_mark"],
            )

    def _check(self) -> None:
        metrics = self.requester.metrics()
        assert metrics["in_flight_bytes"] >= 0
        assert metrics["window_bytes"] >= SEGMENT_BYTES


def fates() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(("arrives", "arrives", "lost", "twice", "late", "marked")), max_size=300)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(NAMES),
    st.fixed_dictionaries({"sack": st.sampled_from((0, 1)), "ecn": st.sampled_from((0, 1))}),
    st.lists(st.integers(1, 40 * SEGMENT_BYTES), min_size=1, max_size=4),
    fates(),
)
def test_every_byte_arrives_once(
    name: str, parameters: dict[str, float], sizes_bytes: list[int], fates: list[str]
) -> None:
    parameters = {**parameters, "retries": 1000}
    requester = Requester(name, mtu_bytes=SEGMENT_BYTES, parameters=parameters)
    responder = Responder(name, mtu_bytes=SEGMENT_BYTES, parameters=parameters)
    for size_bytes in sizes_bytes:
        requester.post(size_bytes)
    Path(requester, responder, fates).run()
    segments = sum(-(-size_bytes // SEGMENT_BYTES) for size_bytes in sizes_bytes)
    assert requester.acknowledged == segments
    assert responder.delivered_bytes == sum(sizes_bytes)
    assert requester.metrics()["in_flight_bytes"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_path_without_faults_repeats_nothing(name: str) -> None:
    requester = Requester(name, mtu_bytes=SEGMENT_BYTES)
    responder = Responder(name, mtu_bytes=SEGMENT_BYTES)
    requester.post(1_000_000)
    Path(requester, responder, []).run()
    assert responder.delivered_bytes == 1_000_000
    assert requester.retransmitted_packets == requester.timeouts == 0


@pytest.mark.parametrize("lost", range(1, 40))
def test_one_loss_is_repaired_by_one_segment_and_no_timeout(lost: int) -> None:
    """But for the last one, which nothing follows."""
    requester = Requester("reno", mtu_bytes=SEGMENT_BYTES)
    responder = Responder("reno", mtu_bytes=SEGMENT_BYTES)
    requester.post(100 * SEGMENT_BYTES)
    Path(requester, responder, ["lost", *["arrives"] * lost]).run()
    assert responder.delivered_bytes == 100 * SEGMENT_BYTES
    assert requester.timeouts == 0
    assert requester.retransmitted_packets <= 1
