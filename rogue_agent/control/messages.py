"""The messages of the conversation and what each of their fields takes.

A request names the `role` it is for; each role is one data process of the agent. Requests for one role are
answered in their order, each with the reply that REPLIES names beside it, or with `error`.
"""

from dataclasses import Field, dataclass, field, fields
from typing import ClassVar

from rogue_agent.control.errors import ErrorKind
from rogue_agent.control.fields import Flag, Integer, Optional, Parameters, Rule, Text, Texts

PROTOCOL = 1
WORDS_LENGTH_MAX = 8_192
_U24, _U32, _U64 = (1 << 24) - 1, (1 << 32) - 1, (1 << 64) - 1
_HOUR_MS = 3_600_000
_NAME = Text(r"[a-zA-Z0-9][a-zA-Z0-9._+-]*", 64)
_WORDS = Text(r".*", WORDS_LENGTH_MAX)
_ROLE = Text(r"[a-z][a-z0-9-]*", 32)
_GID = Text(r"[0-9a-f]{4}(:[0-9a-f]{4}){7}", 39)
_BUFFER_BYTES = Integer(1, 1 << 40)
_RATE_BPS = Integer(1, 10**15)
_NS = Integer(0, (1 << 63) - 1)


def _takes(rule: Rule) -> dict[str, Rule]:
    return {"rule": rule}


@dataclass(frozen=True)
class Message:
    """One line of the conversation; its type stands in front of its fields."""

    wire_type: ClassVar[str]


@dataclass(frozen=True)
class RoleRequest(Message):
    """A request for one data process, which must answer within the time limit."""

    role: str = field(metadata=_takes(_ROLE))
    time_limit_ms: int = field(metadata=_takes(Integer(1, _HOUR_MS)))


@dataclass(frozen=True)
class Hello(Message):
    """Open the conversation; the versions of the protocol must agree."""

    wire_type: ClassVar[str] = "hello"
    protocol: int = field(metadata=_takes(Integer(1, 1_000)))


@dataclass(frozen=True)
class Prepare(RoleRequest):
    """Start a data process: find the port of the experiment address, register memory, make a queue pair.

    fill_seed: what the memory is filled with before; null leaves it zero.
    line_rate_bps: what the transport's constants are chosen for; null takes the port's own rate.
    """

    wire_type: ClassVar[str] = "prepare"
    address: str = field(metadata=_takes(Text(r"[0-9a-fA-F.:]+", 45)))
    buffer_bytes: int = field(metadata=_takes(_BUFFER_BYTES))
    fill_seed: int | None = field(metadata=_takes(Optional(Integer(0, _U64))))
    transport: str = field(metadata=_takes(_NAME))
    parameters: dict[str, object] = field(metadata=_takes(Parameters(100)))
    line_rate_bps: int | None = field(metadata=_takes(Optional(_RATE_BPS)))


@dataclass(frozen=True)
class Connect(RoleRequest):
    """Connect the queue pair to its peer's."""

    wire_type: ClassVar[str] = "connect"
    mtu_bytes: int = field(metadata=_takes(Integer(256, 4_096)))
    peer_gid: str = field(metadata=_takes(_GID))
    peer_qp_num: int = field(metadata=_takes(Integer(0, _U24)))
    peer_psn: int = field(metadata=_takes(Integer(0, _U24)))
    peer_rkey: int = field(metadata=_takes(Integer(0, _U32)))
    peer_buffer_address: int = field(metadata=_takes(Integer(0, _U64)))
    peer_buffer_bytes: int = field(metadata=_takes(_BUFFER_BYTES))


@dataclass(frozen=True)
class Start(RoleRequest):
    """Write the first `size_bytes` of the buffer to the peer's; the flow is cut off at the time limit."""

    wire_type: ClassVar[str] = "start"
    size_bytes: int = field(metadata=_takes(Integer(0, 1 << 40)))


@dataclass(frozen=True)
class Result(RoleRequest):
    """Ask what became of the flow, and for the checksum of the buffer; answered once the flow has ended."""

    wire_type: ClassVar[str] = "result"


@dataclass(frozen=True)
class Stop(Message):
    """End every data process and the agent."""

    wire_type: ClassVar[str] = "stop"


@dataclass(frozen=True)
class Capabilities(Message):
    """What this node is and has."""

    wire_type: ClassVar[str] = "capabilities"
    protocol: int = field(metadata=_takes(Integer(1, 1_000)))
    host: str = field(metadata=_takes(_WORDS))
    kernel: str = field(metadata=_takes(_WORDS))
    python: str = field(metadata=_takes(_WORDS))
    has_pyverbs: bool = field(metadata=_takes(Flag()))
    devices: list[str] = field(metadata=_takes(Texts(_NAME, 64)))


@dataclass(frozen=True)
class Prepared(Message):
    """What the peer needs to connect, and what the driver found and will use: recorded with every result."""

    wire_type: ClassVar[str] = "prepared"
    role: str = field(metadata=_takes(_ROLE))
    device: str = field(metadata=_takes(_NAME))
    port: int = field(metadata=_takes(Integer(1, 255)))
    port_rate_bps: int = field(metadata=_takes(Integer(0, 10**15)))
    active_mtu_bytes: int = field(metadata=_takes(Integer(256, 4_096)))
    gid_index: int = field(metadata=_takes(Integer(0, 65_535)))
    gid: str = field(metadata=_takes(_GID))
    qp_num: int = field(metadata=_takes(Integer(0, _U24)))
    psn: int = field(metadata=_takes(Integer(0, _U24)))
    rkey: int = field(metadata=_takes(Integer(0, _U32)))
    buffer_address: int = field(metadata=_takes(Integer(0, _U64)))
    buffer_bytes: int = field(metadata=_takes(_BUFFER_BYTES))
    clock: str = field(metadata=_takes(Text("host|nic", 4)))
    completions: str = field(metadata=_takes(Text("event|polling", 7)))
    limiter: str = field(metadata=_takes(_NAME))


@dataclass(frozen=True)
class Connected(Message):
    """The queue pair is in RTS."""

    wire_type: ClassVar[str] = "connected"
    role: str = field(metadata=_takes(_ROLE))


@dataclass(frozen=True)
class Started(Message):
    """The flow runs."""

    wire_type: ClassVar[str] = "started"
    role: str = field(metadata=_takes(_ROLE))


@dataclass(frozen=True)
class Results(Message):
    """What became of a role's flow; a role that only receives has status `idle` and nothing but a checksum.

    start_ns, end_ns: of the node's own monotonic clock. `spent`: where the time went, in nanoseconds.
    samples_path: file on the node with the RTT samples, comma-separated under a line of column names.
    """

    wire_type: ClassVar[str] = "results"
    role: str = field(metadata=_takes(_ROLE))
    sha256: str = field(metadata=_takes(Text("[0-9a-f]{64}", 64)))
    status: str = field(metadata=_takes(Text("ok|error|unfinished|idle", 10)))
    error: str | None = field(default=None, metadata=_takes(Optional(_WORDS)))
    start_ns: int = field(default=0, metadata=_takes(_NS))
    end_ns: int = field(default=0, metadata=_takes(_NS))
    verbs: int = field(default=0, metadata=_takes(_NS))
    batches: int = field(default=0, metadata=_takes(_NS))
    spent: dict[str, object] = field(default_factory=dict, metadata=_takes(Parameters(32)))
    samples_path: str | None = field(default=None, metadata=_takes(Optional(_WORDS)))


@dataclass(frozen=True)
class Stopped(Message):
    """The agent's last line."""

    wire_type: ClassVar[str] = "stopped"


@dataclass(frozen=True)
class Error(Message):
    """A request could not be carried out; without a role it concerns the conversation, which then ends."""

    wire_type: ClassVar[str] = "error"
    role: str | None = field(metadata=_takes(Optional(_ROLE)))
    kind: str = field(metadata=_takes(Text("|".join(kind.value for kind in ErrorKind), 16)))
    message: str = field(metadata=_takes(_WORDS))


REPLIES: dict[type[Message], type[Message]] = {
    Hello: Capabilities,
    Prepare: Prepared,
    Connect: Connected,
    Start: Started,
    Result: Results,
    Stop: Stopped,
}


def rules_of(message_class: type[Message]) -> dict[str, tuple[Rule, Field[object]]]:
    """Rule and dataclass field of each field of a message."""
    return {each.name: (each.metadata["rule"], each) for each in fields(message_class)}
