"""The C++ engine. Use simulator.Simulation, which checks what it is given."""

from collections.abc import Callable
from typing import Any, TypeAlias

from numpy import int64
from numpy.typing import NDArray

from rogue.simulator.datagram import Memory
from rogue.simulator.framing import Framing
from rogue.simulator.profiles import NicProfile

OnCompletions: TypeAlias = Callable[[int, list[tuple[int, int, int, int, int | None]]], object]
OnEvent: TypeAlias = Callable[[int, int], object]

class QueuePair:
    """One end of a connection: what verbs offer, and nothing more."""

    @property
    def qp_num(self) -> int:
        """Number of this queue pair, unique in its simulation."""

    @property
    def state(self) -> int:
        """State as in ibv_qp_state: reset 0, ready to send 3, error 6."""

    @property
    def retransmitted_bytes(self) -> int:
        """Payload bytes that this queue pair sent again or, of READs, asked for again."""

    @property
    def delivered_bytes(self) -> int:
        """Payload bytes of this queue pair that arrived: in order, or in whole messages (type UC)."""

    @property
    def control_rate_bps(self) -> int:
        """What the congestion control of the NIC allows now, in bits per second; 0 without one."""

    @property
    def delivered_messages(self) -> int:
        """Verbs of this queue pair that arrived whole, if it is of type UC; otherwise 0."""

    @property
    def posted_bytes(self) -> int:
        """Payload bytes of all verbs ever posted here."""

    def attach(
        self,
        on_completions: OnCompletions,
        on_qp_event: OnEvent,
        on_receives: OnCompletions | None = None,
    ) -> None:
        """Name the host software behind this queue pair.

        ``on_completions(host_ns, [(wr_id, status, nic_ns, byte_len, imm), ...])`` gets all completions of an
        instant at once; status as in ibv_wc_status: success 0, flushed 5, retries exceeded 12. Successful
        unsignalled verbs are not among them. ``on_qp_event(host_ns, state)`` is called when the queue pair
        has changed its state. ``on_receives(host_ns, [(wr_id, status, nic_ns, byte_len, imm), ...])`` gets
        what the other end's SENDs and immediates complete here: receive requests 0, 1, ..., of which there
        are always enough.
        """

    def call_when_delivered(self, delivered_bytes: int, callback: Callable[[int], object]) -> None:
        """Call ``callback(host_ns)`` once ``delivered_bytes`` has reached this, by whole verbs.

        That is what software at the other end sees in its memory; a real sender has to be told. Nothing is
        called any more after a reset of this queue pair.
        """

    def nic_clock_ns(self) -> int:
        """Read the free-running clock of the NIC, in its own nanoseconds."""

    def left_ns(self, wr_id: int) -> float:
        """Return when a verb's last packet first left the NIC, in nanoseconds of its clock: an oracle.

        For a READ it is the instant from which request and last response together needed until completion.
        Known for verbs that are not done, and during the call that delivers a verb's completion.
        """

    def post_write(
        self,
        wr_id: int,
        length_bytes: int,
        signaled: bool,
        *,
        imm: int | None = None,
        local_offset: int = 0,
        remote_offset: int = 0,
    ) -> int:
        """Post an RDMA WRITE; return the NIC clock read just before, in its nanoseconds.

        ``imm`` (32 bits) completes a receive request at the other end. On a queue pair of type UC the verb is
        done when its last packet has left, otherwise when that has been acknowledged.
        Raises QueuePairError if the queue pair is not ready to send.
        """

    def post_send(self, wr_id: int, length_bytes: int, signaled: bool, *, imm: int | None = None) -> int:
        """Post a SEND, which completes a receive request at the other end; otherwise as post_write."""

    def post_read(
        self,
        wr_id: int,
        length_bytes: int,
        signaled: bool,
        *,
        local_offset: int = 0,
        remote_offset: int = 0,
    ) -> int:
        """Post an RDMA READ, which type UC does not have; otherwise as post_write.

        The other end's NIC sends the responses, as fast as the limiter of the queue pair there permits. At
        most 16 READs are under way at once; the next one waits.
        """

    def bind(self, local: Memory, remote: Memory) -> None:
        """Let WRITEs and READs posted here really move bytes between memories of the two ends.

        ``local`` is on this end's host, ``remote`` on the other's; a verb's offsets count from their starts.
        """

    def reset(self) -> None:
        """Put the queue pair into state RESET: it forgets all verbs, and discards all packets that come.

        No completion is delivered any more, not even one that has already been produced.
        """

    def ready(self, *, sq_psn: int, rq_psn: int) -> None:
        """Make a queue pair ready to send again, from state RESET.

        The next packet that leaves has sequence number ``sq_psn`` (24 bits); the next one that is accepted
        must have ``rq_psn``. As with real cards, nothing else tells packets from before the reset.
        Raises QueuePairError in any other state.
        """

    def use_limiter(self, number: int) -> None:
        """Move an idle queue pair to another of its NIC's limiters.

        Raises QueuePairError if something is still to be sent or acknowledged, or a READ is being served.
        """

    def set_rate(self, rate_bps: int) -> int:
        """Program the limiter of this queue pair (0 = no limit); return the rate after rounding up."""

class Timer:
    """A timer of host software. It fires once for each time it is set."""

    def set(self, host_ns: int) -> None:
        """Set or move the deadline; one in the past comes due at once."""

    def cancel(self) -> None:
        """Forget the deadline."""

class CompiledMaker:
    """A compiled control, and the values of its parameters."""

class CompiledKind:
    """A control that was compiled outside the engine."""

    def __init__(self, address: int, file: str) -> None:
        """Take the address of its table; ControlError if it is of another version of the interface."""

    @property
    def file(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def parameters(self) -> list[tuple[str, float, float, float, str]]: ...
    @property
    def wants_acknowledgements(self) -> bool: ...
    @property
    def wants_telemetry(self) -> bool: ...
    @property
    def wants_feedback(self) -> bool: ...
    @property
    def wants_marks(self) -> bool: ...
    def maker(self, values: list[float]) -> CompiledMaker:
        """Take the values of all parameters, in their order."""

class SwitchMaker:
    """A compiled part of switches, and the values of its parameters."""

class SwitchKind:
    """A part of switches that was compiled outside the engine."""

    def __init__(self, address: int, file: str) -> None:
        """Take the address of its table; ControlError if it is of another version of the interface."""

    @property
    def file(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def parameters(self) -> list[tuple[str, float, float, float, str]]: ...
    @property
    def sees_arrivals(self) -> bool: ...
    @property
    def sees_departures(self) -> bool: ...
    @property
    def chooses(self) -> bool: ...
    @property
    def trims(self) -> bool: ...
    def maker(self, values: list[float]) -> SwitchMaker:
        """Take the values of all parameters, in their order."""

class ReceiverMaker:
    """A compiled control of receivers, and the values of its parameters."""

class ReceiverKind:
    """A control of receivers that was compiled outside the engine."""

    def __init__(self, address: int, file: str) -> None:
        """Take the address of its table; ControlError if it is of another version of the interface."""

    @property
    def file(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def parameters(self) -> list[tuple[str, float, float, float, str]]: ...
    def maker(self, values: list[float]) -> ReceiverMaker:
        """Take the values of all parameters, in their order."""

class Controller:
    """A congestion control of a NIC, without a network. Times are picoseconds."""

    def __init__(
        self,
        name: str,
        *,
        line_rate_bps: int,
        parameters: dict[str, float] = ...,
        control_maker: Callable[[int, int, int, int, int], object] | CompiledMaker | None = None,
        base_rtt_ps: int = ...,
        mtu_bytes: int = ...,
        packet_bytes: int = ...,
        hops: int = ...,
    ) -> None: ...
    def on_cnp(self, now_ps: int) -> None:
        """Take a congestion notification packet."""

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        """Take note of a packet that begins to leave."""

    def on_timer(self, now_ps: int) -> None:
        """Call when the deadline has come."""

    def on_acknowledgement(
        self,
        now_ps: int,
        *,
        sent_ps: int | None,
        acknowledged_psn: int = ...,
        sent_psn: int = ...,
        recoveries: int = ...,
        is_marked: bool = ...,
        hops: list[tuple[int, int, int, int]] = ...,
    ) -> None:
        """Take an ACK or NAK of a packet that began to leave at ``sent_ps`` (None: not known).

        A hop is (when it left that port in ps, bytes behind it, bytes the port had sent, rate in bps).
        """

    def on_feedback(self, now_ps: int, *, port: int, rate_bps: int) -> None:
        """Take the rate that a switch wants flows through one of its ports to have."""

    @property
    def deadline_ps(self) -> int | None: ...
    @property
    def burst_bytes(self) -> int: ...
    @property
    def untold_bytes_max(self) -> int: ...
    @property
    def window_bytes(self) -> int | None: ...
    @property
    def rate_bps(self) -> int: ...
    @property
    def cnp_gap_ps(self) -> int | None: ...
    def metrics(self, now_ps: int) -> dict[str, float]:
        """Return what it believes, by name with unit."""

class RoccPoint:
    """RoCC's congestion point of one queue, without a network."""

    def __init__(self, *, line_rate_bps: int, parameters: dict[str, float] = ...) -> None: ...
    def update(self, waiting_bytes: int) -> int:
        """End a period with so much waiting; return the rate of each flow."""

    @property
    def rate_units(self) -> float: ...
    @property
    def is_at_rest(self) -> bool: ...
    @property
    def period_ps(self) -> int: ...

def rocc_parameters() -> list[tuple[str, float, float, float, str]]:
    """List (parameter, value, least, most, meaning) of RoCC's congestion points."""

def controls() -> list[tuple[str, str, list[tuple[str, float, float, float, str]], bool, bool, bool]]:
    """List every congestion control.

    Each is (name, meaning, parameters, wants_acknowledgements, wants_telemetry, wants_feedback). A parameter
    is (name, value, least, most, meaning).
    """

class Requester:
    """A sending half with a reliability of its own, without a network. Times are picoseconds."""

    def __init__(self, name: str, *, mtu_bytes: int, parameters: dict[str, float] = ...) -> None: ...
    def post(self, length_bytes: int) -> None:
        """Post a WRITE."""

    def send(self, end_ps: int) -> int | None:
        """Send the next packet, which ends then, and return its number; None if there is none."""

    def on_acknowledgement(
        self,
        *,
        now_ps: int,
        expected: int,
        selective: list[tuple[int, int]] = ...,
        is_negative: bool = False,
        echoes_mark: bool = False,
        echoed_ps: int = 0,
        bitmap: tuple[int, int, int, int] | None = None,
        entropy: int = 0,
        is_trimmed_last: bool = False,
        is_of_request: bool = False,
    ) -> bool:
        """Take an acknowledgement; False if the connection is broken.

        ``bitmap`` of Ultra Ethernet: first number, 64 bits from there on, number of the packet that is
        answered, and how many bytes of frames have come.
        """

    def on_credit(self, *, now_ps: int, granted: int) -> bool:
        """Take what a receiver says that it has granted, in 256 bytes, since the beginning."""

    def credit_target(self, rivals: int = 1) -> int:
        """Return what the packet that was just sent asks for: the low 23 bits of such a number."""

    def use_paths(self, seed: int, paths: int) -> None:
        """Let it choose among so many paths, a power of two, if it is a kind that does."""

    def next_path(self) -> int:
        """Return the path of the next packet to leave; 0 if it chooses none."""

    def on_deadline(self, now_ps: int, slowness: float = 1.0) -> bool:
        """Call when the deadline has come; False if the connection is broken."""

    @property
    def deadline_ps(self) -> int | None: ...
    @property
    def acknowledged(self) -> int: ...
    @property
    def retransmitted_packets(self) -> int: ...
    @property
    def timeouts(self) -> int: ...
    @property
    def recoveries(self) -> int: ...
    @property
    def next_packet(self) -> dict[str, int] | None:
        """What is said of the packet to send next.

        It is number, payload_bytes, is_last, has_reduced, wants_acknowledgement and is_request.
        """

    def metrics(self) -> dict[str, float]:
        """Return what it believes, by name with unit."""

class TcpWindow:
    """The congestion control of a TCP, alone."""

    def __init__(
        self, name: str, parameters: dict[str, float] = ..., *, segment_bytes: int = 1460
    ) -> None: ...
    def on_acknowledged(
        self,
        *,
        acknowledged_bytes: int,
        now_ps: int = 0,
        is_echo: bool = False,
        is_window_over: bool = False,
        may_grow: bool = True,
        round_trip_ps: int | None = None,
    ) -> None: ...
    def on_loss(self, in_flight_bytes: int) -> None: ...
    def on_marked(self) -> None: ...
    def on_timeout(self, in_flight_bytes: int, is_first: bool = True) -> None: ...
    @property
    def window_bytes(self) -> int: ...
    @property
    def threshold_bytes(self) -> int: ...
    def metrics(self) -> dict[str, float]: ...

class Responder:
    """A receiving half with a reliability of its own, without a network. Times are picoseconds."""

    def __init__(self, name: str, *, mtu_bytes: int, parameters: dict[str, float] = ...) -> None: ...
    def on_packet(
        self,
        number: int,
        *,
        payload_bytes: int = 1024,
        is_marked: bool = False,
        is_last: bool = False,
        has_reduced: bool = False,
        sent_ps: int = 0,
        now_ps: int = 0,
        wants_acknowledgement: bool = False,
        is_trimmed: bool = False,
        is_trimmed_last: bool = False,
        entropy: int = 0,
        is_request: bool = False,
        credit_target: int = 0,
    ) -> list[dict[str, Any]]:
        """Take a packet, and return its acknowledgements."""

    def wants_turn(self) -> bool:
        """Whether its host should grant something soon; said once."""

    def grant(self, *, is_idle: bool = False) -> list[dict[str, Any]]:
        """Give it a turn, and return what it says; SimulationError if the kind has no credits."""

    def on_deadline(self, now_ps: int) -> list[dict[str, Any]]:
        """Call when the deadline has come; return the acknowledgements that waited."""

    @property
    def deadline_ps(self) -> int | None: ...
    @property
    def delivered_bytes(self) -> int: ...

def reliabilities() -> list[tuple[str, str, str, list[tuple[str, float, float, float, str]], bool]]:
    """List (name, meaning, shortest timeout, parameters, controls_window) of every kind, as in controls()."""

class Engine:
    """The event loop and all it moves. Nodes and links are numbered in the order they are added.

    What a configuration may have is in rogue/simulator/cpp/binding/configuration_fields.h; an unknown name is
    a TypeError.
    """

    def __init__(
        self,
        *,
        seed: int,
        framing: Framing,
    ) -> None: ...
    def add_host(self, name: str, profile: NicProfile) -> int: ...
    def add_switch(self, name: str, **configuration: object) -> int: ...
    def add_link(self, a: int, b: int, **configuration: object) -> int: ...
    def connect(self, **configuration: object) -> tuple[QueuePair, QueuePair]: ...
    def find_route(self, source: int, destination: int, entropy: int) -> list[int]:
        """Return the links of the shortest path that a hash takes; none if there is no way."""

    def add_datagram_queue_pair(self, host: int) -> int: ...
    def attach_datagrams(
        self, qp_num: int, on_receives: Callable[[int, list[tuple[int, int, bytes]]], object]
    ) -> None: ...
    def add_route(self, links: list[int]) -> int: ...
    def post_datagram(
        self, *, qp_num: int, wr_id: int, destination_qp_num: int, route: int, payload: bytes
    ) -> None: ...
    def add_memory(self, *, host: int, size_bytes: int, seed: int | None) -> int: ...
    def read_memory(self, memory: int, offset: int, length_bytes: int) -> bytes: ...
    def write_memory(self, memory: int, offset: int, data: bytes) -> None: ...
    def record_memory_writes(self) -> None: ...
    def memory_write_columns(self) -> dict[str, NDArray[int64]]: ...
    def inject(self, fault: str, **values: object) -> None:
        """Let something go wrong; faults and their fields are in rogue/simulator/cpp/protocol/fault.h."""

    def schedule(self, host_ns: int, callback: Callable[[int], object], in_step: bool = False) -> None: ...
    def run_ahead_from(self, ports: int) -> None:
        """Let switches run ahead from so many ports on; to be said before the first connection."""

    def timer(self, callback: Callable[[int], object]) -> Timer: ...
    def run_until(self, host_ns: int) -> None: ...
    def close(self) -> None: ...
    @property
    def now_ns(self) -> int: ...
    def sample_throughput(self, interval_ns: int) -> None: ...
    def sample_queues(self, interval_ns: int) -> None: ...
    def record_oracle_rtt(self) -> None: ...
    def record_packets(self, **settings: object) -> None: ...
    def packet_columns(self) -> dict[str, NDArray[int64]]: ...
    def packets_missed(self) -> int: ...
    def throughput_columns(self) -> dict[str, NDArray[int64]]: ...
    def queue_columns(self) -> dict[str, NDArray[int64]]: ...
    def pause_columns(self) -> dict[str, NDArray[int64]]: ...
    def oracle_columns(self) -> dict[str, NDArray[int64]]: ...
    def counter_columns(self) -> tuple[dict[str, NDArray[int64]], list[str]]:
        """Return link, qp_num (0: none), name (its place in the list) and value; and the list of names."""

    def waits(self) -> list[tuple[int, int, list[int]]]: ...
    def control_metrics(self) -> dict[int, dict[str, float]]: ...
    def statistics(self) -> dict[str, int]: ...
    def check_invariants(self) -> None: ...
    def digest(self) -> str: ...
