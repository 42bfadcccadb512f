"""Driver over a simulated queue pair: one connection and its application inside a Simulation."""

from typing import cast

from rogue_agent.core.actions import PostSend, QueuePairFailed, RecoveryAction, Trace, TransferDone
from rogue_agent.core.application import Application, Schedule, TransferRecord
from rogue_agent.core.clocks import HostNs, NicNs
from rogue_agent.core.completions import Completion, status_name
from rogue_agent.core.connection import Connection, QpEvent
from rogue_agent.core.control import SampleVerdict
from rogue_agent.core.errors import PostRefused
from rogue_agent.core.link import LinkFacts
from rogue_agent.core.settings import TransportSettings
from rogue_agent.drivers.step import drain
from simulator import QueuePair, QueuePairError, Simulation

IBV_QPS_ERR = 6

RttSample = tuple[HostNs, int, int, int | None, float, int, bool, str]
"""(t_ns, wr_id, rtt_ns, base_rtt_ns, cwnd_packets, limiter_bps, accepted, reason)"""


class SimulatedFlow:
    """One flow of a simulation: follows its schedule over a queue pair, and keeps what it saw.

    The connection is given what `ibv_wc` and a clock query carry, and nothing that only a simulator can
    know. The NIC calls in from the top of the event loop, once per poll.
    """

    def __init__(  # noqa: PLR0913 - a flow has that many independent properties, all named
        self,
        simulation: Simulation,
        queue_pair: QueuePair,
        *,
        settings: TransportSettings,
        link: LinkFacts,
        schedule: Schedule,
        record_rtt: bool,
    ) -> None:
        self._simulation = simulation
        self._queue_pair = queue_pair
        self._application = Application(schedule)
        self._connection = Connection(settings, link, queue_pair.qp_num, tracing=record_rtt)
        self._timer = simulation.timer(self._on_timer)
        self._armed_ns: HostNs | None = None
        self._resent_bytes = 0
        self._error: str | None = None
        self.rtt_samples: list[RttSample] = []
        self.failures: list[tuple[HostNs, int | None, str]] = []
        queue_pair.attach(self._on_completions, self._on_qp_event)

    @property
    def transfers(self) -> list[TransferRecord]:
        """All transfers started so far, in order."""
        return self._application.records

    def start(self) -> None:
        """Arrange for the first transfer at its time."""
        self._schedule_next(None)

    def finish(self, now_ns: int) -> None:
        """End the run; what still runs stays unfinished."""
        self._application.finish(HostNs(now_ns))

    def post_send(self, action: PostSend) -> NicNs:
        """Post a WRITE; the NIC's clock is read just before."""
        assert action.verb == "write", f"no {action.verb} yet"
        try:
            return NicNs(self._queue_pair.post_write(action.wr_id, action.length_bytes, action.signaled))
        except QueuePairError as error:
            raise PostRefused from error

    def set_rate(self, rate_bps: int) -> int:
        """Program the limiter; return its effective rate."""
        return self._queue_pair.set_rate(rate_bps)

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        """Set the connection's timer, or clear it; cheap when nothing changes."""
        if deadline_ns != self._armed_ns:
            self._armed_ns = deadline_ns
            if deadline_ns is None:
                self._timer.cancel()
            else:
                self._timer.set(deadline_ns)

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        """Close the transfer's record, and start the next transfer when it is due."""
        error = None if action.is_ok else self._error
        record = self._application.on_transfer_done(action.transfer_id, now, error)
        resent_bytes = self._queue_pair.retransmitted_bytes
        record.retransmitted_bytes = resent_bytes - self._resent_bytes
        self._resent_bytes = resent_bytes
        self._schedule_next(now)

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        """Keep the failure with the name of its status."""
        self._error = "queue pair error" if action.status is None else status_name(action.status)
        self.failures.append((now, action.status, self._error))

    def recover(self, action: RecoveryAction, now: HostNs) -> None:
        """Never asked: no shadow queue pair is connected yet."""
        raise AssertionError(f"asked at {now} to {action}, although there is no shadow queue pair")

    def trace(self, action: Trace) -> None:
        """Keep an RTT sample."""
        base_rtt_ns = action.metrics.get("base_rtt_ns")
        self.rtt_samples.append(
            (
                action.t_ns,
                action.wr_id,
                round(action.rtt_ns),
                None if base_rtt_ns is None else round(base_rtt_ns),
                action.metrics["cwnd_packets"],
                action.limiter_bps,
                action.reason == SampleVerdict.ACCEPTED.value,
                action.reason,
            )
        )

    def _schedule_next(self, now: HostNs | None) -> None:
        """Begin the next transfer at its time; without a delay when that is now."""
        start_ns = self._application.next_start_ns
        if start_ns is None:
            return
        if start_ns == now:
            self._connection.submit(self._application.begin(now))
        else:
            self._simulation.schedule(start_ns, self._on_start)

    def _on_start(self, host_ns: int) -> None:
        if self._application.next_start_ns is None:
            return
        now = HostNs(host_ns)
        self._connection.submit(self._application.begin(now))
        drain(self._connection, self, now)

    def _on_completions(self, host_ns: int, completions: list[tuple[int, int, int, int, int | None]]) -> None:
        now = HostNs(host_ns)
        self._connection.on_completions(now, cast("list[Completion]", completions))
        drain(self._connection, self, now)

    def _on_qp_event(self, host_ns: int, qp_state: int) -> None:
        now = HostNs(host_ns)
        if qp_state == IBV_QPS_ERR:
            self._connection.on_qp_event(now, self._queue_pair.qp_num, QpEvent.ERROR)
            drain(self._connection, self, now)

    def _on_timer(self, host_ns: int) -> None:
        now = HostNs(host_ns)
        self._armed_ns = None
        self._connection.on_timer(now)
        drain(self._connection, self, now)
