"""Let a TCP connection of the simulator follow a schedule."""

from collections.abc import Callable
from typing import Final, cast

from rogue.agent.core.actions import SUCCESS, RttSample, status_name
from rogue.agent.core.application import Application, Schedule, TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.simulated import FlowEvent
from rogue.agent.drivers.simulated_nic import NicQueuePair
from rogue.agent.drivers.simulated_path import Arrivals
from rogue.agent.drivers.step import ControlSample
from rogue.harness.cell.group_settings import TcpSettings
from rogue.simulator import QueuePair, Reliability, Simulation

WRITE_BYTES: Final = 1 << 20
"""An estimate of what host software hands to the socket at once; it costs next to nothing here."""


class TcpFlow:
    """One TCP connection that follows a schedule: a transfer ends when all of it is acknowledged."""

    def __init__(
        self,
        simulation: Simulation,
        end: QueuePair,
        schedule: Schedule,
        on_end: Callable[[int, HostNs], None] | None = None,
        on_arrival: Callable[[int, HostNs], None] | None = None,
    ) -> None:
        self._end = end
        self._on_end = on_end
        self._application = Application(schedule)
        self._arrivals = None if on_arrival is None else Arrivals(self.transfers, on_arrival)
        self._timer = simulation.timer(self._on_timer)
        self._begun_bytes: dict[int, int] = {}
        self.rtt_samples: list[RttSample] = []
        self.control_samples: list[ControlSample] = []
        self.failures: list[tuple[HostNs, int | None, str]] = []
        self.events: list[FlowEvent] = []
        end.attach(self._on_completions, self._on_qp_event)

    @property
    def transfers(self) -> list[TransferRecord]:
        """All transfers started so far, in order."""
        return self._application.records

    @property
    def retransmitted_bytes(self) -> int:
        """Bytes that TCP has sent again so far."""
        return self._end.retransmitted_bytes

    def start(self) -> None:
        """Begin when the schedule says."""
        self._await_next()

    def release(self, number: int, now: HostNs, not_before_ns: HostNs) -> bool:
        """Let a transfer start that was held; say whether it ever can."""
        can_start = self._application.release(number, not_before_ns)
        if can_start:
            self._on_timer(now)
        return can_start

    def finish(self) -> None:
        """End the run; a transfer that still runs is recorded as unfinished."""
        self._application.finish()

    def _await_next(self) -> None:
        if self._application.next_start_ns is not None:
            self._timer.set(self._application.next_start_ns)

    def _on_timer(self, now_ns: int) -> None:
        next_ns = self._application.next_start_ns
        while next_ns is not None and next_ns <= now_ns and not self.failures:
            transfer = self._application.begin(HostNs(now_ns))
            self._begun_bytes[transfer.transfer_id] = self.retransmitted_bytes
            self._end.post_write(transfer.transfer_id, transfer.size_bytes, True)
            if self._arrivals is not None:
                size_bytes = transfer.size_bytes
                self._arrivals.on_posted(
                    cast("NicQueuePair", self._end), size_bytes, transfer.transfer_id, size_bytes
                )
            next_ns = self._application.next_start_ns
        self._await_next()

    def _on_completions(self, now_ns: int, completions: list[tuple[int, int, int, int, int | None]]) -> None:
        for transfer_id, status, *_ in completions:
            error = None if status == SUCCESS else status_name(status)
            record = self._application.on_transfer_done(transfer_id, HostNs(now_ns), error)
            begun_bytes = self._begun_bytes.pop(transfer_id)
            if not self._application.is_open_loop:
                record.retransmitted_bytes = self.retransmitted_bytes - begun_bytes
            if self._on_end is not None:
                for ended in (transfer_id, *(n + 1 for n in self._application.abandoned())):
                    self._on_end(ended, HostNs(now_ns))
        self._on_timer(now_ns)

    def _on_qp_event(self, now_ns: int, state: int) -> None:
        self.failures.append((HostNs(now_ns), self._end.qp_num, f"the connection is in state {state}"))


def connect_tcp(  # noqa: PLR0913 - a connection has that many properties, all named
    simulation: Simulation,
    source: str,
    destination: str,
    settings: TcpSettings,
    *,
    priority: int,
    path_seed: int,
) -> tuple[QueuePair, QueuePair]:
    """Open a connection; data goes from the source to the destination."""
    return simulation.connect(
        source,
        destination,
        mtu_bytes=settings.segment_bytes,
        retry_count=0,
        timeout_exponent=0,
        priority=priority,
        path_seed=path_seed,
        reliability=Reliability(settings.transport, settings.parameters),
    )
