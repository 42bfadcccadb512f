"""A flow on real verbs: the application's schedule above the connection, the queue pair below it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from rogue_agent.core.actions import PostSend, QueuePairFailed, RecoveryAction, Trace, TransferDone
from rogue_agent.core.application import Application, Schedule
from rogue_agent.core.clocks import HostNs, NicNs
from rogue_agent.core.completions import Completion, status_name
from rogue_agent.core.connection import Connection
from rogue_agent.core.control import SampleVerdict
from rogue_agent.core.errors import PostRefused
from rogue_agent.drivers.step import drain
from rogue_agent.drivers.verbs.endpoint import Endpoint

SAMPLE_COLUMNS = (
    "t_ns",
    "wr_id",
    "rtt_ns",
    "base_rtt_ns",
    "cwnd_packets",
    "limiter_bps",
    "accepted",
    "reason",
)


@dataclass(frozen=True)
class Failure:
    """The queue pair was lost, and what the NIC or the library said about it."""

    t_ns: HostNs
    description: str


class VerbsFlow:
    """Offers `step.Port` over one endpoint; whoever runs the event loop calls `start` and the `on_` methods.

    RTT samples go to `samples` as comma-separated rows under SAMPLE_COLUMNS, so that a long run stays small.
    """

    def __init__(
        self,
        connection: Connection,
        schedule: Schedule,
        endpoint: Endpoint,
        samples: TextIO,
        clock: Callable[[], NicNs],
    ) -> None:
        self._connection = connection
        self._application = Application(schedule)
        self._queue_pair = endpoint.queue_pair
        self._local = (endpoint.buffer.address, endpoint.buffer.lkey)
        self._samples = samples
        self._clock = clock
        self._timer_ns: HostNs | None = None
        self._refusal = ""
        self.transfers = self._application.records
        self.failures: list[Failure] = []
        self.posted_verbs = 0
        self.posted_batches = 0
        self.posting_ns = 0
        samples.write(",".join(SAMPLE_COLUMNS) + "\n")

    @property
    def is_finished(self) -> bool:
        """Whether the schedule holds nothing more and no transfer runs."""
        is_running = bool(self.transfers) and self.transfers[-1].end_ns is None
        return not is_running and self._application.next_start_ns is None

    @property
    def deadline_ns(self) -> HostNs | None:
        """When `on_time` must be called at the latest: for the connection's timer or the next transfer."""
        instants = (self._timer_ns, self._application.next_start_ns)
        return min((instant for instant in instants if instant is not None), default=None)

    def on_time(self, now: HostNs) -> None:
        """Start the transfer that is due, and let the connection look at its timer."""
        if self._application.next_start_ns is not None and now >= self._application.next_start_ns:
            self._connection.submit(self._application.begin(now))
        if self._timer_ns is not None and now >= self._timer_ns:
            self._connection.on_timer(now)
        drain(self._connection, self, now)

    def on_completions(self, now: HostNs, completions: list[Completion]) -> None:
        """Take the entries of one poll."""
        self._connection.on_completions(now, completions)
        drain(self._connection, self, now)

    def finish(self, now: HostNs) -> None:
        """End the run; a transfer that still runs stays recorded as unfinished."""
        self._application.finish(now)

    def post_send(self, action: PostSend) -> NicNs:
        """Post the verb to the same place of the peer's buffer."""
        before_ns = self._clock()
        try:
            if action.verb != "write" or action.imm is not None:
                raise PostRefused(
                    f"this driver has WRITEs only: no {action.verb} with immediate {action.imm}"
                )
            self._queue_pair.post_write(action, self._local)
        except PostRefused as error:
            self._refusal = str(error)
            raise
        self.posting_ns += self._clock() - before_ns
        self.posted_verbs += 1
        self.posted_batches += action.signaled
        return before_ns

    def set_rate(self, rate_bps: int) -> int:
        """Never asked: the link's facts say that there is no limiter."""
        raise AssertionError(f"asked for {rate_bps} bit/s, although this queue pair has no limiter")

    def arm_timer(self, deadline_ns: HostNs | None) -> None:
        """Remember the connection's deadline for the event loop."""
        self._timer_ns = deadline_ns

    def transfer_done(self, action: TransferDone, now: HostNs) -> None:
        """Pass the end of a transfer on to the application."""
        error = None if action.is_ok else self.failures[0].description
        self._application.on_transfer_done(action.transfer_id, now, error)

    def queue_pair_failed(self, action: QueuePairFailed, now: HostNs) -> None:
        """Keep what the NIC said, or the library where it refused a verb."""
        description = self._refusal if action.status is None else status_name(action.status)
        self.failures.append(Failure(now, description))

    def recover(self, action: RecoveryAction, now: HostNs) -> None:
        """Never asked: this driver gives the connection no shadow queue pair."""
        raise AssertionError(f"asked at {now} to {action}, although there is no shadow queue pair")

    def trace(self, action: Trace) -> None:
        """Write one RTT sample as a row."""
        is_accepted = int(action.reason == SampleVerdict.ACCEPTED.value)
        base_rtt_ns, cwnd_packets = (
            action.metrics.get("base_rtt_ns", ""),
            action.metrics.get("cwnd_packets", ""),
        )
        rtt_ns = "" if action.rtt_ns is None else action.rtt_ns
        self._samples.write(
            f"{action.t_ns},{action.wr_id},{rtt_ns},{base_rtt_ns},{cwnd_packets},"
            f"{action.limiter_bps},{is_accepted},{action.reason}\n"
        )
