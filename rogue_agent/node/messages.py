"""The messages between harness and agent, and what each of their fields takes.

A request names the `role` it is for; each role is one data process of the agent. Requests for one role get
their replies in order: the type that REPLIES gives, or `error`. Instants are those of the node's monotonic
clock, which `clock` returns, unless a field counts from the start.
"""

import re
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from rogue.agent.node.fields import (
    FLAG,
    ErrorKind,
    Rule,
    integer,
    many,
    matching,
    nested,
    optional,
    parameters,
)

PROTOCOL = 8
WORDS_LENGTH_MAX = 8_192
ARRIVALS_MAX = 2_000
WAITS_MAX = 1_000
ORDERS_PART_MAX = 20_000
SWITCH_ROLE = "switch"
"""The role of a node that is a Linux switch."""
KERNEL_TCPS = ("dctcp", "cubic", "reno")
"""Transports that are a TCP of the node's kernel, by the name of its congestion control."""
_U24, _U32, _U64 = (1 << 24) - 1, (1 << 32) - 1, (1 << 64) - 1
_HOUR_MS = 3_600_000
_NAME = matching(r"[a-zA-Z0-9][a-zA-Z0-9._:+-]*", 64)
_WORDS = matching(r".*", WORDS_LENGTH_MAX)
_ROLE = matching(r"[a-z][a-z0-9-]*", 32)
_TYPE = matching(r"[a-z_]+", 32)
_MOMENT = matching("start|arrival|end", 7)
_VERB = matching("write|read|send", 5)
_COMPLETIONS = matching("event|polling", 7)
_PROCESSORS = matching("[0-9]+(,[0-9]+)*", 4_096)
_GID = matching(r"[0-9a-f]{4}(:[0-9a-f]{4}){7}", 39)
_ADDRESS = matching(r"[0-9a-fA-F.:]+", 45)
_INTERFACE = matching(r"[a-zA-Z0-9][a-zA-Z0-9._-]*", 15)
_BYTES = integer(0, 1 << 50)
_BUFFER_BYTES = integer(1, 1 << 40)
_MTU_BYTES = integer(256, 4_096)
SAMPLE_INTERVAL_NS_MIN = 1_000_000
_SAMPLE_INTERVAL_NS = integer(SAMPLE_INTERVAL_NS_MIN, 10**12)
_BURST_BYTES = integer(1_600, 1 << 30)
_RATE_BPS = integer(1, 10**15)
_COUNT = integer(0, (1 << 63) - 1)
_NS = integer(0, (1 << 63) - 1)
_NS_OR_NONE = optional(integer(1, (1 << 63) - 1))
_QP_OR_NONE = optional(integer(0, _U24))


def _takes(rule: Rule) -> dict[str, Rule]:
    return {"rule": rule}


@dataclass(frozen=True)
class Message:
    """One line of the conversation, which starts with its type: the name of the class in snake case."""

    wire_type: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Set the type."""
        cls.wire_type = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


@dataclass(frozen=True)
class RoleRequest(Message):
    """A request for one data process, which must reply within the time limit."""

    role: str = field(metadata=_takes(_ROLE))
    time_limit_ms: int = field(metadata=_takes(integer(1, _HOUR_MS)))


@dataclass(frozen=True)
class RoleReply(Message):
    """A reply of a data process."""

    role: str = field(metadata=_takes(_ROLE))


@dataclass(frozen=True)
class Hello(Message):
    """Open the conversation; the versions of the protocol must agree.

    silence_limit_ms: time without a message after which the agent ends; null for no limit.
    """

    protocol: int = field(metadata=_takes(integer(1, 1_000)))
    silence_limit_ms: int | None = field(default=None, metadata=_takes(optional(integer(1, 24 * _HOUR_MS))))


@dataclass(frozen=True)
class Clock(Message):
    """Ask for the node's monotonic clock."""


@dataclass(frozen=True)
class Prepare(RoleRequest):
    """Start a data process for one end of one flow, up to what a peer connects to.

    end: the requester follows the schedule, the responder serves it. fill_seed: pseudo-random content of the
    memory; null for zeros. line_rate_bps: selects the transport's constants; null for the port's rate.
    mtu_bytes: null for the largest of both ports. priority: service level. dscp: of every packet; null for
    the priority's class selector, which limiters of Linux match. limiter_burst_bytes: burst of the limiter;
    null for one that suits hosts with late timers. interface: the one that TCP uses, for hosts that share
    a kernel. secret_seed: of nonces, keys and packet numbers, on a kernel without other users; null for the
    system's randomness. turns: priorities whose limiters the requesters at this address share; the end begins
    with `priority`. tells: events of transfers sent to other roles: the requester sends starts and ends, the
    responder arrivals. first_sample_ns: length of the first interval of samples; null for a whole one.
    """

    end: Literal["requester", "responder"] = field(metadata=_takes(matching("requester|responder", 9)))
    address: str = field(metadata=_takes(_ADDRESS))
    transport: str = field(metadata=_takes(_NAME))
    buffer_bytes: int = field(metadata=_takes(_BUFFER_BYTES))
    parameters: dict[str, object] = field(default_factory=dict, metadata=_takes(parameters(100)))
    verb: Literal["write", "read", "send"] = field(default="write", metadata=_takes(_VERB))
    fill_seed: int | None = field(default=None, metadata=_takes(optional(integer(0, _U64))))
    line_rate_bps: int | None = field(default=None, metadata=_takes(optional(_RATE_BPS)))
    mtu_bytes: int | None = field(default=None, metadata=_takes(optional(_MTU_BYTES)))
    priority: int = field(default=0, metadata=_takes(integer(0, 7)))
    dscp: int | None = field(default=None, metadata=_takes(optional(integer(0, 63))))
    limiter: str = field(default="none", metadata=_takes(matching("none|htb|dcb|software", 8)))
    limiter_burst_bytes: int | None = field(default=None, metadata=_takes(optional(_BURST_BYTES)))
    completions: Literal["event", "polling"] = field(default="event", metadata=_takes(_COMPLETIONS))
    sample_interval_ns: int = field(default=100_000_000, metadata=_takes(_SAMPLE_INTERVAL_NS))
    first_sample_ns: int | None = field(default=None, metadata=_takes(optional(integer(1, 10**12))))
    record_rtt: bool = field(default=True, metadata=_takes(FLAG))
    record_control: bool = field(default=False, metadata=_takes(FLAG))
    record_inputs: bool = field(default=False, metadata=_takes(FLAG))
    interface: str | None = field(default=None, metadata=_takes(optional(_INTERFACE)))
    secret_seed: int | None = field(default=None, metadata=_takes(optional(integer(0, _U64))))
    turns: list[int] = field(default_factory=list, metadata=_takes(many(integer(1, 7), 7, are_distinct=True)))
    tells: list[str] = field(default_factory=list, metadata=_takes(many(_MOMENT, 3, are_distinct=True)))


@dataclass(frozen=True)
class Prepared(RoleReply):
    """Facts for the peer, and what the driver found and will use; part of every result.

    Null where the service has no such thing. `limiter_step_bps`: rates are rounded up to it, 0 for exact.
    """

    service: Literal["rc", "uc", "tcp"] = field(metadata=_takes(matching("rc|uc|tcp", 3)))
    address: str = field(metadata=_takes(_ADDRESS))
    line_rate_bps: int = field(metadata=_takes(integer(0, 10**15)))
    mtu_bytes: int = field(metadata=_takes(integer(256, 65_536)))
    clock: str = field(metadata=_takes(matching("host|nic", 4)))
    completions: str = field(metadata=_takes(_COMPLETIONS))
    limiter: str = field(metadata=_takes(_NAME))
    limiter_step_bps: int = field(default=0, metadata=_takes(_COUNT))
    netdev: str | None = field(default=None, metadata=_takes(optional(_NAME)))
    device: str | None = field(default=None, metadata=_takes(optional(_NAME)))
    port: int | None = field(default=None, metadata=_takes(optional(integer(1, 255))))
    port_rate_bps: int | None = field(default=None, metadata=_takes(optional(integer(0, 10**15))))
    gid_index: int | None = field(default=None, metadata=_takes(optional(integer(0, 65_535))))
    gid: str | None = field(default=None, metadata=_takes(optional(_GID)))
    qp_num: int | None = field(default=None, metadata=_takes(_QP_OR_NONE))
    psn: int | None = field(default=None, metadata=_takes(_QP_OR_NONE))
    shadow_qp_num: int | None = field(default=None, metadata=_takes(_QP_OR_NONE))
    shadow_psn: int | None = field(default=None, metadata=_takes(_QP_OR_NONE))
    side_qp_num: int | None = field(default=None, metadata=_takes(_QP_OR_NONE))
    side_qkey: int | None = field(default=None, metadata=_takes(optional(integer(0, _U32))))
    nonce: str | None = field(default=None, metadata=_takes(optional(matching("[0-9a-f]{32}", 32))))
    rkey: int | None = field(default=None, metadata=_takes(optional(integer(0, _U32))))
    buffer_address: int | None = field(default=None, metadata=_takes(optional(integer(0, _U64))))
    buffer_bytes: int | None = field(default=None, metadata=_takes(optional(_BUFFER_BYTES)))
    tcp_port: int | None = field(default=None, metadata=_takes(optional(integer(1, 65_535))))
    tcp_token: int | None = field(default=None, metadata=_takes(optional(integer(0, _U64))))
    processors: str | None = field(default=None, metadata=_takes(optional(_PROCESSORS)))


@dataclass(frozen=True)
class Connect(RoleRequest):
    """Connect to the other end, from its introduction; the responder connects first."""

    peer: Prepared = field(metadata=_takes(nested(Prepared)))


@dataclass(frozen=True)
class Load(RoleRequest):
    """Give a requester a schedule of equal transfers, one after the other or one each interval.

    repeat_for_ns: the last start after the first. interval_ns: distance of starts, whether or not others
    still run; with size 0 that is a latency probe. verb_bytes: size of the application's own verbs.
    """

    size_bytes: int = field(metadata=_takes(_BYTES))
    count: int | None = field(default=1, metadata=_takes(optional(integer(1, 1 << 40))))
    repeat_for_ns: int | None = field(default=None, metadata=_takes(_NS_OR_NONE))
    interval_ns: int | None = field(default=None, metadata=_takes(_NS_OR_NONE))
    verb_bytes: int | None = field(default=None, metadata=_takes(optional(integer(1, 1 << 31))))


@dataclass(frozen=True)
class Arrivals(RoleRequest):
    """Append transfers to a requester's schedule: pairs of an instant after the start, in ns, and a size."""

    arrivals: list[list[int]] = field(metadata=_takes(many(many(_BYTES, 2, 2), ARRIVALS_MAX)))


@dataclass(frozen=True)
class After(RoleRequest):
    """Make transfers of a requester's arrivals wait for events of another role's transfers.

    known_by: a role of this node that sends the events. waits: number of the waiting transfer and of the
    other one, each from 0, and a pause in ns after the event.
    """

    known_by: str = field(metadata=_takes(_ROLE))
    moment: Literal["start", "arrival", "end"] = field(metadata=_takes(_MOMENT))
    waits: list[list[int]] = field(metadata=_takes(many(many(_BYTES, 3, 3), WAITS_MAX)))


@dataclass(frozen=True)
class Start(RoleRequest):
    """Start at this instant, also a responder's counters; what still runs after `run_ns` is cut off."""

    start_ns: int = field(metadata=_takes(_NS))
    run_ns: int = field(metadata=_takes(integer(1, 24 * _HOUR_MS * 1_000_000)))


@dataclass(frozen=True)
class Watch(RoleRequest):
    """Send the role `switch` a part of its orders; the first part starts the role.

    part: of the orders' JSON text (`packet_watch.py`). The role carries them out after the last part.
    """

    part: str = field(metadata=_takes(matching(".*", ORDERS_PART_MAX)))
    is_last: bool = field(metadata=_takes(FLAG))


@dataclass(frozen=True)
class Heartbeat(RoleRequest):
    """Request the state of a role; the reply comes at any time."""


@dataclass(frozen=True)
class Result(RoleRequest):
    """Request the results; a requester replies once it has finished.

    checksum_bytes: how much of the memory to checksum; null for all of it.
    """

    checksum: bool = field(default=False, metadata=_takes(FLAG))
    checksum_bytes: int | None = field(default=None, metadata=_takes(optional(_BUFFER_BYTES)))


@dataclass(frozen=True)
class EndRole(RoleRequest):
    """End one data process; its files stay."""


@dataclass(frozen=True)
class Stop(Message):
    """End every data process and the agent, and remove all files."""


@dataclass(frozen=True)
class Capabilities(Message):
    """Ports of this node, one by GID, its limiters such as htb:eth1, and its software.

    directory: where the files and logs of this conversation are.
    """

    protocol: int = field(metadata=_takes(integer(1, 1_000)))
    host: str = field(metadata=_takes(_WORDS))
    kernel: str = field(metadata=_takes(_WORDS))
    python: str = field(metadata=_takes(_WORDS))
    pyverbs: str | None = field(metadata=_takes(optional(_WORDS)))
    cores: int = field(metadata=_takes(integer(1, 1 << 20)))
    memory_bytes: int = field(metadata=_takes(_BYTES))
    congestion_controls: list[str] = field(metadata=_takes(many(_NAME, 64)))
    ports: list[dict[str, object]] = field(metadata=_takes(many(parameters(32), 64)))
    limiters: list[str] = field(metadata=_takes(many(_NAME, 64)))
    directory: str | None = field(default=None, metadata=_takes(optional(_WORDS)))
    idle_states: str | None = field(default=None, metadata=_takes(optional(_WORDS)))


@dataclass(frozen=True)
class ClockReading(Message):
    """The node's monotonic clock when the request was read."""

    now_ns: int = field(metadata=_takes(_NS))


@dataclass(frozen=True)
class Connected(RoleReply):
    """This end is ready."""


@dataclass(frozen=True)
class Loaded(RoleReply):
    """The schedule is accepted; `transfers` is their number, null for no limit."""

    transfers: int | None = field(metadata=_takes(optional(_COUNT)))


@dataclass(frozen=True)
class Started(RoleReply):
    """The start is scheduled."""


@dataclass(frozen=True)
class Watching(RoleReply):
    """The part has arrived; after the last one, the packets are watched."""


@dataclass(frozen=True)
class Alive(RoleReply):
    """Progress of a role; `error` in state failed."""

    state: str = field(metadata=_takes(_NAME))
    now_ns: int = field(metadata=_takes(_NS))
    transfers_ended: int = field(metadata=_takes(_COUNT))
    moved_bytes: int = field(metadata=_takes(_COUNT))
    error: str | None = field(metadata=_takes(optional(_WORDS)))


@dataclass(frozen=True)
class Results(RoleReply):
    """Outcome of a role's flow; a responder has status `idle`.

    moved_bytes: payload known to have arrived. `spent`: times in nanoseconds. `files`: tables and logs on the
    node.
    """

    status: str = field(metadata=_takes(matching("ok|error|unfinished|idle", 10)))
    start_ns: int = field(metadata=_takes(_NS))
    end_ns: int = field(metadata=_takes(_NS))
    error: str | None = field(default=None, metadata=_takes(optional(_WORDS)))
    transfers_ok: int = field(default=0, metadata=_takes(_COUNT))
    transfers_error: int = field(default=0, metadata=_takes(_COUNT))
    transfers_unfinished: int = field(default=0, metadata=_takes(_COUNT))
    moved_bytes: int = field(default=0, metadata=_takes(_COUNT))
    retransmitted_bytes: int | None = field(default=None, metadata=_takes(optional(_COUNT)))
    verbs: int = field(default=0, metadata=_takes(_COUNT))
    batches: int = field(default=0, metadata=_takes(_COUNT))
    sha256: str | None = field(default=None, metadata=_takes(optional(matching("[0-9a-f]{64}", 64))))
    spent: dict[str, object] = field(default_factory=dict, metadata=_takes(parameters(32)))
    facts: dict[str, object] = field(default_factory=dict, metadata=_takes(parameters(64)))
    files: dict[str, object] = field(default_factory=dict, metadata=_takes(parameters(32)))


@dataclass(frozen=True)
class RoleEnded(RoleReply):
    """The data process has ended."""


@dataclass(frozen=True)
class Stopped(Message):
    """The agent's last line."""


@dataclass(frozen=True)
class Error(Message):
    """A request failed; an error without a role ends the conversation.

    to: type of the request that this replies to, null for none. is_gone: the role's data process has ended.
    """

    role: str | None = field(metadata=_takes(optional(_ROLE)))
    kind: str = field(metadata=_takes(matching("|".join(kind.value for kind in ErrorKind), 16)))
    message: str = field(metadata=_takes(_WORDS))
    to: str | None = field(default=None, metadata=_takes(optional(_TYPE)))
    is_gone: bool = field(default=False, metadata=_takes(FLAG))


REPLIES: dict[type[Message], type[Message]] = {
    Hello: Capabilities,
    Clock: ClockReading,
    Prepare: Prepared,
    Connect: Connected,
    Load: Loaded,
    Arrivals: Loaded,
    After: Loaded,
    Start: Started,
    Watch: Watching,
    Heartbeat: Alive,
    Result: Results,
    EndRole: RoleEnded,
    Stop: Stopped,
}
