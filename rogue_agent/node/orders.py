"""Files of a conductor's folder: orders, written before the kernel starts, account and queue samples."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from rogue.agent.drivers.netlink import QueueReading
from rogue.agent.node.fields import (
    ErrorKind,
    MessageError,
    from_values,
    integer,
    many,
    matching,
    nested_by_name,
    optional,
    shown,
)
from rogue.agent.node.messages import Prepared, Results
from rogue.agent.node.packet_watch import WatchOrders

ORDERS = "orders.json"
ACCOUNT = "account.json"
SAMPLES = "queues.csv"
CAPTURE = "packets.capture"
COUNTS = "counts.json"
REACHED = "reached"
"""File with the ns since the start of the cell; rewritten while it runs, for the process outside."""
FILES = "files"
"""Folder with the files of each role, `role.name`."""
_WORDS = matching(".*", 100_000)
_COUNT = integer(0, (1 << 63) - 1)


@dataclass(frozen=True)
class Command:
    """A program with its arguments and its input."""

    run: list[str]
    input: str = ""


@dataclass(frozen=True)
class TimedCommand:
    """A command with its instant after the common start."""

    at_ns: int
    command: Command
    kept_as: str = ""
    """Name under which its output is kept; "" to drop it."""


@dataclass(frozen=True)
class RoleOrder:
    """One end of one flow; messages are lines for an agent."""

    name: str
    end: str
    peer: str
    """Role of the other end."""
    prepare: str
    loads: list[str]
    """The schedule of a requester; a responder has none."""
    offset_ns: int
    """Start of the role after the common start."""
    run_ns: int
    checked_bytes: int
    """Bytes of the memory to checksum at the end; 0 for none."""


@dataclass(frozen=True)
class Orders:
    """One cell."""

    commands: list[Command]
    """Commands that build the network, in order."""
    roles: list[RoleOrder]
    ports: dict[str, str]
    """Interface of each port whose queue is sampled."""
    queue_handle: int
    """Major number of the qdisc that is a port's queue."""
    sample_interval_ns: int
    tell_every_ns: int
    """Interval of progress reports."""
    limit_ms: int
    """Time limit of an agent's replies, in the kernel's time."""
    hung_after_ns: int
    """Time after the start at which a requester that still runs has hung."""
    timed: list[TimedCommand] = field(default_factory=list)
    """Changes of the network during the run, in order."""
    counts: dict[str, Command] = field(default_factory=dict)
    """Commands that print counters of ports, run before the start and after the end."""
    watch: WatchOrders = field(default_factory=WatchOrders)
    """Packets to record and to change; the conductor knows their queue pairs."""

    def role(self, name: str) -> RoleOrder:
        """Return the role with this name."""
        return next(role for role in self.roles if role.name == name)

    def text(self) -> str:
        """Return the content of the file."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> "Orders":
        """Parse the file."""
        values = json.loads(text)
        commands = [Command(**each) for each in values.pop("commands")]
        roles = [RoleOrder(**each) for each in values.pop("roles")]
        timed = [
            TimedCommand(**{**each, "command": Command(**each["command"])}) for each in values.pop("timed")
        ]
        counts = {name: Command(**each) for name, each in values.pop("counts").items()}
        watch = WatchOrders.read(values.pop("watch"))
        return cls(commands=commands, roles=roles, timed=timed, counts=counts, watch=watch, **values)


@dataclass
class Account:
    """Outcome of the orders, as far as they could be carried out."""

    failure_kind: str | None = field(
        default=None, metadata={"rule": optional(matching("|".join(kind.value for kind in ErrorKind), 16))}
    )
    failure: str | None = field(default=None, metadata={"rule": optional(_WORDS)})
    start_ns: int | None = field(default=None, metadata={"rule": optional(integer(0, (1 << 63) - 1))})
    """Common start, on the kernel's monotonic clock."""
    packets_missed: int = field(default=0, metadata={"rule": _COUNT})
    """Packets to record for which there was no room."""
    struck: list[list[int]] = field(
        default_factory=list, metadata={"rule": many(many(_COUNT, 3, 3), 100_000)}
    )
    """Packet events that happened: number of the event, time after the start, packet number."""
    kernel: str = field(default="", metadata={"rule": _WORDS})
    python: str = field(default="", metadata={"rule": _WORDS})
    prepared: dict[str, Prepared] = field(default_factory=dict, metadata={"rule": nested_by_name(Prepared)})
    results: dict[str, Results] = field(default_factory=dict, metadata={"rule": nested_by_name(Results)})

    def text(self) -> str:
        """Return the content of the file."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, text: str) -> "Account":
        """Parse the file; raises MessageError."""
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise MessageError(f"account: got {shown(text)}, expected JSON: {error}") from None
        if not isinstance(values, dict):
            raise MessageError(f"account: got {shown(values)}, expected an object")
        return from_values(cls, values, "account")


COLUMNS = ("port", "t_ns", *QueueReading._fields, "repeats")
"""repeats: number of further samples, one interval apart, with the same readings of all ports."""


class Samples:
    """Samples of all ports, with one line per port."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._last: tuple[int, Mapping[str, QueueReading]] | None = None
        self._repeats = 0

    def add(self, t_ns: int, readings: Mapping[str, QueueReading]) -> None:
        """Add a sample."""
        self._write_last()
        self._last = t_ns, readings

    def repeat(self, count: int) -> None:
        """Add `count` samples with the readings of the last one."""
        self._repeats += count

    def text(self) -> str:
        """Return the content of the file."""
        self._write_last()
        return "".join(f"{line}\n" for line in (",".join(COLUMNS), *self._lines))

    def _write_last(self) -> None:
        if self._last is not None:
            t_ns, readings = self._last
            for port, each in readings.items():
                self._lines.append(",".join(map(str, (port, t_ns, *each, self._repeats))))
        self._last, self._repeats = None, 0
