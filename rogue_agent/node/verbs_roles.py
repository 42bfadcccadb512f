"""The requesting and the responding end over real verbs."""

from contextlib import suppress
from dataclasses import asdict
from functools import partial

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.core.connection import Connection
from rogue.agent.core.errors import SettingsError
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.drivers import recording
from rogue.agent.drivers.limiters.base import LimiterError
from rogue.agent.drivers.recording import DeferredCalls, TransferLog
from rogue.agent.drivers.replay import RecordedConnection
from rogue.agent.drivers.verbs.clock import Clocks
from rogue.agent.drivers.verbs.completion_queue import CompletionPump
from rogue.agent.drivers.verbs.flow import (
    CONTROL_COLUMNS,
    RTT_COLUMNS,
    FlowRecords,
    FlowShape,
    VerbsFlow,
    write_sample,
)
from rogue.agent.drivers.verbs.responder import VerbsResponder
from rogue.agent.node.end import Report
from rogue.agent.node.messages import Prepared
from rogue.agent.node.verbs_end import VerbsEnd, peer_facts, seal_of


class VerbsRequester(VerbsEnd):
    """Follows a schedule."""

    is_requester = True
    _flow: VerbsFlow | None = None
    _memory_bytes = 0
    _is_over = False

    def connect(self, peer: Prepared) -> None:
        """Connect, and put a connection and its flow above the queue pairs."""
        base = self._base
        remote, mtu_bytes = self._join(peer)
        self._memory_bytes = min(base.endpoint.buffer.size_bytes, remote.memory.size_bytes)
        is_uc = base.settings.service == "uc"
        shape = FlowShape(
            memory_bytes=self._memory_bytes,
            verb_bytes=base.settings.segment_bytes,
            mtu_bytes=mtu_bytes,
            has_counted_writes=is_uc,
            is_dated=is_uc and base.limiter is not None and base.limiter.is_behind_device,
        )
        spool = base.workplace.spool
        records = FlowRecords(
            transfers=TransferLog(spool.table("transfers", recording.TRANSFER_COLUMNS)),
            events=self._events,
            sample=self._sampled(),
            meter=self._meter,
        )
        connection = self._connection(peer, mtu_bytes)
        self._flow = VerbsFlow(
            connection,
            base.endpoint,
            remote.memory,
            shape,
            base.limiter,
            records,
            Clocks(base.workplace.clock, base.endpoint.queue.stamp),
        )
        if base.turns is not None:
            base.turns.attach(self._flow.take_turns(base.turns), self._events.row)
            base.workplace.poller.watch(base.turns.fileno(), base.turns.hear)
        self._watch(
            CompletionPump(
                base.endpoint.queue, base.workplace.clock, self._flow.on_completions, lambda _now: None
            )
        )

    def _sampled(self) -> DeferredCalls | None:
        """What keeps samples until the end."""
        if not self._has_rtt and not self._has_control:
            return None
        spool = self._base.workplace.spool
        rtt = spool.table("rtt", RTT_COLUMNS) if self._has_rtt else None
        control = spool.table("control", CONTROL_COLUMNS) if self._has_control else None
        return spool.late(partial(write_sample, rtt, control))

    @property
    def _has_rtt(self) -> bool:
        return self._base.request.record_rtt and self._base.settings.estimator is not None

    @property
    def _has_control(self) -> bool:
        return self._base.request.record_control and self._base.settings.estimator is not None

    def _connection(self, peer: Prepared, mtu_bytes: int) -> Connection:
        """The core's connection, which writes down its life if asked to."""
        base = self._base
        limiter = base.limiter
        link = LinkFacts(
            base.line_rate_bps,
            mtu_bytes,
            rate_step_bps=0 if limiter is None else limiter.step_bps,
            has_limiter=limiter is not None,
        )
        facts = peer_facts(peer, base.endpoint, mtu_bytes)
        qp_num, tracing = base.endpoint.queue_pair.qp_num, base.settings.estimator is not None
        if not base.request.record_inputs:
            return Connection(base.settings, link, qp_num, tracing=tracing, peer=facts)
        log = base.workplace.spool.file("inputs", "jsonl")
        return RecordedConnection(base.settings, link, qp_num, log=log, tracing=tracing, peer=facts)

    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Follow the schedule, whose transfers must fit the memories, or their verbs at least."""
        assert self._flow is not None and schedule is not None, "a requester is connected and has a schedule"
        segment_bytes, memory_bytes = self._base.settings.segment_bytes, self._memory_bytes
        size_bytes = max([schedule.size_bytes, *(size for _, size in schedule.arrivals or ())])
        if size_bytes > memory_bytes and (segment_bytes > memory_bytes or schedule.verb_bytes is not None):
            raise SettingsError(
                "size_bytes",
                size_bytes,
                f"at most {memory_bytes}, the buffers' size, which holds no whole verbs",
            )
        self._begin_counting(start_ns)
        events = self._base.workplace.transfer_events
        if events is not None:
            events.attach(self._flow.release)
        self._flow.follow(schedule, events)

    @property
    def deadline_ns(self) -> HostNs | None:
        """The flow's."""
        return None if self._flow is None else self._flow.deadline_ns

    def on_time(self, now: HostNs) -> None:
        """Let the flow do what is due."""
        flow = self._flow
        if flow is None:
            return
        deadline_ns = flow.deadline_ns
        if deadline_ns is not None and now >= deadline_ns:
            before = self._base.workplace.clock()
            flow.on_time(now)
            if self._pump is not None:
                self._pump.spent.deciding_ns += self._base.workplace.clock() - before
        if self._is_over:
            self._leave_turns(flow, now)
        else:
            flow.update_turn(now)

    @property
    def is_finished(self) -> bool:
        """Whether the schedule is done."""
        return self._flow is not None and self._flow.is_finished

    def on_failure(self) -> None:
        """Leave a limiter to others."""
        if self._base.turns is not None:
            self._base.turns.close()

    def finish(self, now: HostNs) -> None:
        """Cut off what still runs; a limiter through which some of it still goes stays ours until then."""
        flow, turns = self._flow, self._base.turns
        self._is_over = True
        if flow is not None:
            flow.finish(now)
            if turns is not None:
                self._base.workplace.poller.leave(turns.fileno())
            self._leave_turns(flow, now)
        super().finish(now)

    def _leave_turns(self, flow: VerbsFlow, now: HostNs) -> None:
        """Leave the keeper once nothing of this flow is outstanding; a keeper that is gone needs no leave."""
        with suppress(LimiterError):
            flow.update_turn(now)
        if self._base.turns is not None and not flow.has_limiter:
            self._base.turns.close()

    def report(self) -> Report:
        """Counts of the flow."""
        flow, pump = self._flow, self._pump
        if flow is None or pump is None:
            return Report(0)
        spent: dict[str, object] = {**asdict(pump.spent), "posting_ns": flow.posting_ns}
        spent["deciding_ns"] = pump.spent.deciding_ns - flow.posting_ns
        heard = {"mistakes": flow.mistakes, "strangers": self._base.endpoint.strangers}
        facts = {"again_bytes": flow.again_bytes, **heard, **flow.losses}
        return Report(
            self._meter.total_bytes,
            dict(flow.ended),
            flow.first_error,
            verbs=flow.posted_verbs,
            batches=flow.posted_batches,
            spent=spent,
            facts={**facts, **self._limiter_facts()},
        )


class VerbsResponderEnd(VerbsEnd):
    """Serves a requester."""

    is_requester = False
    _responder: VerbsResponder | None = None

    def connect(self, peer: Prepared) -> None:
        """Connect, and put the library above the queue pairs."""
        base = self._base
        remote, _ = self._join(peer)
        seal = None
        if base.settings.has_shadow:
            seal = seal_of(base.endpoint.nonce, peer, is_requester=False)
        self._responder = VerbsResponder(
            base.endpoint,
            remote.memory,
            base.limiter,
            self._events,
            self._meter,
            base.endpoint.queue.stamp,
            seal,
            None if base.workplace.transfer_events is None else base.workplace.transfer_events.on_arrival,
        )
        self._watch(
            CompletionPump(
                base.endpoint.queue,
                base.workplace.clock,
                self._responder.on_completions,
                self._responder.on_empty,
            )
        )

    def begin(self, start_ns: HostNs, schedule: Schedule | None) -> None:
        """Count from now on."""
        assert schedule is None, "a responder follows no schedule"
        self._begin_counting(start_ns)

    @property
    def deadline_ns(self) -> None:
        """A responder waits for nothing but news."""
        return None

    def on_time(self, now: HostNs) -> None:
        """Nothing is ever due."""

    @property
    def is_finished(self) -> bool:
        """A responder serves until its time is over."""
        return False

    def report(self) -> Report:
        """What it has seen arrive: nothing of plain WRITEs over RC."""
        base, responder, pump = self._base, self._responder, self._pump
        if responder is None or pump is None:
            return Report(0)
        facts: dict[str, object] = {
            "delivered_messages": responder.delivered_messages,
            "mistakes": responder.mistakes,
            "strangers": base.endpoint.strangers,
        }
        spent: dict[str, object] = {**asdict(pump.spent)}
        return Report(self._meter.total_bytes, spent=spent, facts={**facts, **self._limiter_facts()})
