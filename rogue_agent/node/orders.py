"""A folder's files: a conductor's orders, written before its kernel starts, and its account."""

import json
from dataclasses import asdict, dataclass, field

from rogue.agent.node.errors import ErrorKind, MessageError
from rogue.agent.node.fields import Integer, NestedByName, Optional, Text, from_values, shown
from rogue.agent.node.messages import Prepared, Results

ORDERS = "orders.json"
ACCOUNT = "account.json"
SAMPLES = "queues.csv"
COUNTS = "counts.json"
REACHED = "reached"
"""Nanoseconds since the start of the cell; rewritten while it runs, for the process outside."""
FILES = "files"
"""A folder: the files of each role, called `role.name`."""
_WORDS = Text(".*", 100_000)


@dataclass(frozen=True)
class Command:
    """A program of the system's with its arguments, and what it reads."""

    run: list[str]
    input: str = ""


@dataclass(frozen=True)
class TimedCommand:
    """A command with its instant, counted from the common start."""

    at_ns: int
    command: Command
    kept_as: str = ""
    """Under what name what it prints is kept; "" for not at all."""


@dataclass(frozen=True)
class RoleOrder:
    """One end of one flow; messages are lines of the conversation with an agent."""

    name: str
    end: str
    peer: str
    """Name of the role at the other end."""
    prepare: str
    loads: list[str]
    """The schedule of a requester; a responder has none."""
    offset_ns: int
    """When it starts, after the common start."""
    run_ns: int
    checked_bytes: int
    """How much of the memory is summed up in the end; 0 for nothing."""


@dataclass(frozen=True)
class Orders:
    """One cell."""

    commands: list[Command]
    """What builds the network, in this order."""
    roles: list[RoleOrder]
    ports: dict[str, str]
    """The interface of each port whose queue is sampled."""
    queue_handle: int
    """Major number of the qdisc that is a port's queue."""
    sample_interval_ns: int
    tell_every_ns: int
    """How often progress is written."""
    limit_ms: int
    """What an agent gets for each request, of the kernel's time."""
    hung_after_ns: int
    """A requester that has not ended so long after the start never will."""
    timed: list[TimedCommand] = field(default_factory=list)
    """What happens to the network meanwhile, in order."""
    counts: "dict[str, Command]" = field(default_factory=dict)
    """They print what ports have counted; each is run before the start and after the end."""

    def role(self, name: str) -> RoleOrder:
        """The role of this name."""
        return next(role for role in self.roles if role.name == name)

    def text(self) -> str:
        """The orders as their file has them."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> "Orders":
        """From the file."""
        values = json.loads(text)
        commands = [Command(**each) for each in values.pop("commands")]
        roles = [RoleOrder(**each) for each in values.pop("roles")]
        timed = [
            TimedCommand(**{**each, "command": Command(**each["command"])}) for each in values.pop("timed")
        ]
        counts = {name: Command(**each) for name, each in values.pop("counts").items()}
        return cls(commands=commands, roles=roles, timed=timed, counts=counts, **values)


@dataclass
class Account:
    """What came of the orders, as far as they could be carried out."""

    failure_kind: "str | None" = field(
        default=None, metadata={"rule": Optional(Text("|".join(kind.value for kind in ErrorKind), 16))}
    )
    """Of `ErrorKind`."""
    failure: "str | None" = field(default=None, metadata={"rule": Optional(_WORDS)})
    start_ns: "int | None" = field(default=None, metadata={"rule": Optional(Integer(0, (1 << 63) - 1))})
    """The common start, by the kernel's monotonic clock."""
    kernel: str = field(default="", metadata={"rule": _WORDS})
    python: str = field(default="", metadata={"rule": _WORDS})
    prepared: "dict[str, Prepared]" = field(default_factory=dict, metadata={"rule": NestedByName(Prepared)})
    results: "dict[str, Results]" = field(default_factory=dict, metadata={"rule": NestedByName(Results)})

    def text(self) -> str:
        """The account as its file has it."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, text: str) -> "Account":
        """From the file; MessageError if it is none."""
        try:
            values = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise MessageError(f"account: got {shown(text)}, expected JSON: {error}") from None
        if not isinstance(values, dict):
            raise MessageError(f"account: got {shown(values)}, expected an object")
        return from_values(cls, values, "account")
