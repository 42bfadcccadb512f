"""Both halves of a TCP over a path that loses, repeats, reorders and marks: every byte arrives, once."""

import heapq
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rogue.simulator._core import Requester, Responder

SEGMENT_BYTES = 1460
MICROSECOND_PS = 1_000_000
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
