"""The passive end over real verbs."""

from dataclasses import asdict

from rogue.agent.core.application import Schedule
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.verbs.pump import CompletionPump
from rogue.agent.drivers.verbs.responder import VerbsResponder
from rogue.agent.node.end import Report
from rogue.agent.node.messages import Prepared
from rogue.agent.node.verbs_end import VerbsEnd
from rogue.agent.node.verbs_peer import seal_of


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
