"""The interface of a simulated NIC that this driver uses."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from rogue.agent.core.actions import Completion
from rogue.agent.core.clocks import HostNs, NicNs

OnCompletions: TypeAlias = Callable[[HostNs, list[Completion]], None]
OnDatagrams: TypeAlias = Callable[[int, Sequence[tuple[int, int, bytes]]], None]


class NicMemory(Protocol):
    """A registered range of a host's memory."""

    @property
    def size_bytes(self) -> int:
        """Its size."""


class NicQueuePair(Protocol):
    """One end of a queue pair. Posting returns the NIC clock read just before."""

    @property
    def qp_num(self) -> int:
        """Number of this queue pair."""

    @property
    def retransmitted_bytes(self) -> int:
        """Payload bytes that the NIC sent again."""

    @property
    def posted_bytes(self) -> int:
        """Payload bytes of all verbs posted here, including repeated ones."""

    @property
    def delivered_bytes(self) -> int:
        """Payload bytes posted here that are at the other end."""

    def call_when_delivered(self, delivered_bytes: int, callback: Callable[[int], object]) -> None:
        """Call back once that many bytes are delivered."""

    def attach(
        self,
        on_completions: OnCompletions,
        on_qp_event: Callable[[int, int], None],
        on_receives: OnCompletions | None = None,
    ) -> None:
        """Set the callbacks of the host software."""

    def left_ns(self, wr_id: int) -> float:
        """Oracle: when the last byte of the verb that has just completed left the NIC, on its clock."""

    def bind(self, local: NicMemory, remote: NicMemory) -> None:
        """Let verbs posted here move bytes between these memories."""

    def nic_clock_ns(self) -> NicNs:
        """Read the NIC's free-running clock."""

    def post_write(  # noqa: PLR0913 - as in the engine
        self,
        wr_id: int,
        length_bytes: int,
        signaled: bool,
        *,
        imm: int | None = None,
        local_offset: int = 0,
        remote_offset: int = 0,
    ) -> NicNs:
        """Post an RDMA WRITE."""

    def post_read(
        self,
        wr_id: int,
        length_bytes: int,
        signaled: bool,
        *,
        local_offset: int = 0,
        remote_offset: int = 0,
    ) -> NicNs:
        """Post an RDMA READ."""

    def post_send(self, wr_id: int, length_bytes: int, signaled: bool, *, imm: int | None = None) -> NicNs:
        """Post a SEND."""

    def set_rate(self, rate_bps: int) -> int:
        """Program the limiter; return its effective rate."""

    def use_limiter(self, number: int) -> None:
        """Move to another of the NIC's limiters; nothing may be outstanding."""

    def reset(self) -> None:
        """Enter RESET, and drop everything."""

    def ready(self, *, sq_psn: int, rq_psn: int) -> None:
        """Leave RESET for RTS with these packet numbers."""


class NicDatagrams(Protocol):
    """A UD queue pair."""

    def attach(self, on_receives: OnDatagrams) -> None:
        """Set the callbacks of the host software."""

    def post_send(self, wr_id: int, destination: "NicDatagrams", payload: bytes) -> None:
        """Send a datagram, which may be lost."""


class NicTimer(Protocol):
    """A timer of host software."""

    def set(self, host_ns: int) -> None:
        """Set or move the deadline."""

    def cancel(self) -> None:
        """Forget the deadline."""


class SimulatedTime(Protocol):
    """Clock and timers of a simulation."""

    def schedule(self, host_ns: int, callback: Callable[[int], None]) -> None:
        """Call back once, at this instant."""

    def timer(self, callback: Callable[[int], None]) -> NicTimer:
        """Return a timer that calls back each time it is set."""


class Fabric(SimulatedTime, Protocol):
    """A simulation in which queue pairs can be connected."""

    def connect(  # noqa: PLR0913 - as in the engine
        self,
        a: str,
        b: str,
        *,
        mtu_bytes: int,
        retry_count: int,
        timeout_exponent: int,
        path_seed: int = 0,
        service: str = "rc",
        limiter_of: NicQueuePair | None = None,
    ) -> tuple[NicQueuePair, NicQueuePair]:
        """Connect two hosts; both ends are ready to send."""

    def datagram_queue_pair(self, host: str) -> NicDatagrams:
        """Return a UD queue pair on a host."""
