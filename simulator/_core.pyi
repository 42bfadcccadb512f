"""The C++ engine. Use simulator.Simulation, which checks its arguments."""

from collections.abc import Callable
from typing import TypeAlias

from numpy import int64
from numpy.typing import NDArray

from rogue.simulator.datagram import Memory
from rogue.simulator.framing import Framing
from rogue.simulator.profiles import NicProfile

OnCompletions: TypeAlias = Callable[[int, list[tuple[int, int, int, int, int | None]]], object]
OnEvent: TypeAlias = Callable[[int, int], object]
ParameterRow: TypeAlias = tuple[str, float, float, float, str]
"""Name, value, minimum, maximum and meaning."""

class QueuePair:
    """One end of a connection, with the operations of verbs."""

    @property
    def qp_num(self) -> int:
        """Number of this queue pair, unique in its simulation."""

    @property
    def state(self) -> int:
        """State as in ibv_qp_state: reset 0, ready to send 3, error 6."""

    @property
    def retransmitted_bytes(self) -> int:
        """Payload bytes that this queue pair retransmitted or, of READs, requested again."""

    @property
    def delivered_bytes(self) -> int:
        """Payload bytes of this queue pair that arrived: in order, or in whole messages (type UC)."""

    @property
    def control_rate_bps(self) -> int:
        """Current rate of the congestion control in the NIC; 0 without one."""

    @property
    def delivered_messages(self) -> int:
        """Complete messages of this queue pair that arrived, for type UC; otherwise 0."""

    @property
    def posted_bytes(self) -> int:
        """Payload bytes of all verbs ever posted here."""

    def attach(
        self,
        on_completions: OnCompletions,
        on_qp_event: OnEvent,
        on_receives: OnCompletions | None = None,
    ) -> None:
        """Attach host software to this queue pair.

        ``on_completions(host_ns, [(wr_id, status, nic_ns, byte_len, imm), ...])`` gets all completions of an
        instant at once; status as in ibv_wc_status: success 0, flushed 5, retries exceeded 12. Successful
        unsignalled verbs have none. ``on_qp_event(host_ns, state)`` is called when the queue pair changes its
        state. ``on_receives(host_ns, [(wr_id, status, nic_ns, byte_len, imm), ...])`` gets the receive
        requests 0, 1, ... that the other end's SENDs and immediates complete; there are always enough.
        """

    def call_when_delivered(self, delivered_bytes: int, callback: Callable[[int], object]) -> None:
        """Call ``callback(host_ns)`` once ``delivered_bytes`` has reached this value, in whole verbs.

        This is what software at the other end sees in its memory; a real sender would need a message. A reset
        of this queue pair cancels the call.
        """

    def nic_clock_ns(self) -> int:
        """Read the free-running clock of the NIC in nanoseconds of that clock."""

    def left_ns(self, wr_id: int) -> float:
        """Return the time at which a verb's last packet first left the NIC, by its clock: an oracle.

        For a READ it is the completion time minus the travel times of the request and the last response. It
        is known for verbs in progress, and during the call that delivers a verb's completion.
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
        """Post an RDMA WRITE; return the NIC clock in nanoseconds, read just before.

        ``imm`` (32 bits) completes a receive request at the other end. On a queue pair of type UC the verb is
        done when its last packet has left, otherwise when that packet is acknowledged.
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

        The other end's NIC sends the responses at the rate of its queue pair's limiter. At most 16 READs are
        in progress at once; the next one waits.
        """

    def bind(self, local: Memory, remote: Memory) -> None:
        """Let WRITEs and READs posted here move bytes between memories of the two ends.

        ``local`` is on this host, ``remote`` on the other; the offsets of a verb count from their starts.
        """

    def reset(self) -> None:
        """Put the queue pair into state RESET: it drops all verbs and discards all arriving packets.

        No further completion is delivered, not even one that has already been produced.
        """

    def ready(self, *, sq_psn: int, rq_psn: int) -> None:
        """Make a queue pair ready to send again, from state RESET.

        The next packet that leaves has sequence number ``sq_psn`` (24 bits); the next one that is accepted
        must have ``rq_psn``. As with real cards, nothing else identifies packets from before the reset.
        Raises QueuePairError in any other state.
        """

    def use_limiter(self, number: int) -> None:
        """Move an idle queue pair to another of its NIC's limiters.

        Raises QueuePairError if something is still to be sent or acknowledged, or a READ is being served.
        """

    def set_rate(self, rate_bps: int) -> int:
        """Program the limiter of this queue pair (0 = no limit); return the rate after rounding up."""

class Timer:
    """A timer of host software. It fires once each time it is set."""

    def set(self, host_ns: int) -> None:
        """Set or move the deadline; one in the past fires at once."""

    def cancel(self) -> None:
        """Clear the deadline."""

class _PluginKind:
    """Common attributes of compiled plug-ins. The constructor takes the address of the plug-in's table.

    It raises ControlError if the table has another version of the interface.
    """

    def __init__(self, address: int, file: str) -> None: ...
    @property
    def file(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def parameters(self) -> list[ParameterRow]: ...

class CompiledMaker:
    """A compiled NIC control with the values of its parameters."""

class CompiledKind(_PluginKind):
    """A NIC control that was compiled outside the engine."""

    @property
    def wants_acknowledgements(self) -> bool: ...
    @property
    def wants_telemetry(self) -> bool: ...
    @property
    def wants_feedback(self) -> bool: ...
    @property
    def wants_marks(self) -> bool: ...
    def maker(self, values: list[float]) -> CompiledMaker: ...

class SwitchMaker:
    """A compiled switch control with the values of its parameters."""

class SwitchKind(_PluginKind):
    """A switch control that was compiled outside the engine."""

    @property
    def sees_arrivals(self) -> bool: ...
    @property
    def sees_departures(self) -> bool: ...
    @property
    def selects_ports(self) -> bool: ...
    @property
    def trims(self) -> bool: ...
    def maker(self, values: list[float]) -> SwitchMaker: ...

class ReceiverMaker:
    """A compiled receiver control with the values of its parameters."""

class ReceiverKind(_PluginKind):
    """A receiver control that was compiled outside the engine."""

    def maker(self, values: list[float]) -> ReceiverMaker: ...

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
        """Handle a congestion notification packet."""

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        """Handle a packet that begins to leave."""

    def on_timer(self, now_ps: int) -> None:
        """Handle the deadline."""

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
        """Handle an ACK or NAK of a packet that began to leave at ``sent_ps`` (None: unknown).

        A hop has the fields of `Hop`.
        """

    def on_feedback(self, now_ps: int, *, port: int, rate_bps: int) -> None:
        """Handle the rate that a switch requests for flows through one of its ports."""

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
        """Return its state by name with unit."""

class RoccPoint:
    """RoCC's congestion point of one queue, without a network."""

    def __init__(self, *, line_rate_bps: int, parameters: dict[str, float] = ...) -> None: ...
    def update(self, waiting_bytes: int) -> int:
        """End a period with this queue length; return the rate of each flow."""

    @property
    def rate_units(self) -> float: ...
    @property
    def is_at_rest(self) -> bool: ...
    @property
    def period_ps(self) -> int: ...

def rocc_parameters() -> list[ParameterRow]:
    """List the parameters of RoCC's congestion points."""

def controls() -> list[tuple[str, str, list[ParameterRow], bool, bool, bool]]:
    """List name, meaning, parameters, and wants (acknowledgements, telemetry, feedback) of every control."""

def reliabilities() -> list[tuple[str, str, str, list[ParameterRow], bool]]:
    """List (name, meaning, shortest timeout, parameters, controls_window) of every kind, as in controls()."""

def check_reliability(name: str, parameters: dict[str, float]) -> None:
    """Raise SimulationError if a parameter is unknown, out of bounds or contradicts another one."""

class Engine:
    """The event loop and the simulated network. Nodes and links are numbered in the order they are added.

    Fields of configurations are in rogue/simulator/cpp/binding/configuration_fields.h; an unknown name is a
    TypeError.
    """

    def __init__(self, *, seed: int, framing: Framing) -> None: ...
    def add_host(self, name: str, profile: NicProfile) -> int: ...
    def add_switch(self, name: str, **configuration: object) -> int: ...
    def add_link(self, a: int, b: int, **configuration: object) -> int: ...
    def connect(self, **configuration: object) -> tuple[QueuePair, QueuePair]: ...
    def find_route(self, source: int, destination: int, entropy: int) -> list[int]:
        """Return the links of the shortest path that the hash chooses; empty without one."""

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
        """Inject a fault; faults and their fields are in rogue/simulator/cpp/protocol/fault.h."""

    def schedule(self, host_ns: int, callback: Callable[[int], object], in_step: bool = False) -> None: ...
    def run_ahead_from(self, ports: int) -> None:
        """Let switches run ahead in networks of at least `ports` ports; call it before connecting."""

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
    def packet_event_times_ps(self) -> list[int | None]: ...
    def packets_missed(self) -> int: ...
    def throughput_columns(self) -> dict[str, NDArray[int64]]: ...
    def queue_columns(self) -> dict[str, NDArray[int64]]: ...
    def pause_columns(self) -> dict[str, NDArray[int64]]: ...
    def oracle_columns(self) -> dict[str, NDArray[int64]]: ...
    def counter_columns(self) -> tuple[dict[str, NDArray[int64]], list[str]]:
        """Return columns link, qp_num (0: none), name (an index) and value, and the list of names."""

    def waits(self) -> list[tuple[int, int, list[int]]]: ...
    def control_metrics(self) -> dict[int, dict[str, float]]: ...
    def statistics(self) -> dict[str, int]: ...
    def check_invariants(self) -> None: ...
    def digest(self) -> str: ...
