"""Two roles as two data processes would run them, over one fabric in the test's own process."""

import csv
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from helpers.fake_verbs import fake_pyverbs, fake_sysfs
from helpers.fake_verbs_network import Fabric
from helpers.ticking_clock import TickingClock

from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Spool
from rogue.agent.node.data_process import open_end
from rogue.agent.node.messages import (
    Connect,
    Load,
    Message,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
)
from rogue.agent.node.role import NodeContext, Role, RoleState
from rogue.agent.node.transfer_events import transfer_events_of

GID = "0000:0000:0000:0000:0000:ffff:0a09:0001"
LIMIT_MS = 60_000
SECOND_NS = 1_000_000_000
ReplyT = TypeVar("ReplyT", bound=Message)


@dataclass
class Actor:
    """One role with its loop."""

    role: Role
    context: NodeContext
    introduction: Prepared

    def ask(self, request: Message, reply_class: type[ReplyT]) -> ReplyT:
        """Have a request carried out."""
        reply = self.role.handle(request)
        assert isinstance(reply, reply_class), reply
        return reply

    def turn(self) -> None:
        """One turn of the loop, without sleeping."""
        self.context.poller.turn(HostNs(0))
        self.role.on_time(self.context.clock())

    def rows(self, name: str) -> list[dict[str, str]]:
        """Rows of one of the tables."""
        self.context.spool.flush()
        with self.context.spool.paths[name].open() as file:
            return list(csv.DictReader(file))


@dataclass
class Stage:
    """A node with one RDMA port, on which roles appear."""

    directory: Path
    stack: ExitStack
    fabric: Fabric = field(default_factory=Fabric)
    clock: TickingClock = field(default_factory=TickingClock)

    def __post_init__(self) -> None:
        fake_sysfs(self.directory / "sysfs", GID)

    def context(self, role: str) -> NodeContext:
        """Return the facilities of a data process."""
        directory = self.directory / role
        directory.mkdir(exist_ok=True)
        return NodeContext(
            lambda: fake_pyverbs(self.fabric),
            self.directory / "sysfs",
            Spool(directory, role),
            Poller(self.clock.read),
            self.clock.read,
            lambda: NicNs(self.clock.read()),
        )

    def enter(self, request: Prepare) -> Actor:
        """Prepare one role."""
        context = self.context(request.role)
        self.stack.callback(context.spool.close)
        events = transfer_events_of(request, context.spool, context.poller)
        if events is not None:
            self.stack.callback(events.close)
        context = replace(context, transfer_events=events)
        end = open_end(request, context, self.stack)
        return Actor(Role(request, end, self.clock.read, events), context, end.introduce(request.role))

    def pair(self, transport: str = "rogue", **options: Any) -> tuple[Actor, Actor]:
        """A connected requester and responder; `options` go into both `prepare` requests."""
        values: dict[str, Any] = {"address": "10.9.0.1", "buffer_bytes": 1_000_000, **options}
        there = self.enter(Prepare("there", LIMIT_MS, "responder", transport=transport, **values))
        here = self.enter(Prepare("here", LIMIT_MS, "requester", transport=transport, **values))
        there.role.handle(Connect("there", LIMIT_MS, here.introduction))
        here.role.handle(Connect("here", LIMIT_MS, there.introduction))
        return here, there


def play(
    here: Actor, there: Actor, load: Load | None, run_ns: int = SECOND_NS, turns_max: int = 20_000
) -> None:
    """Start both and go round until the requester is done."""
    if load is not None:
        here.role.handle(load)
    there.role.handle(Start("there", LIMIT_MS, 1_000_000, run_ns))
    here.role.handle(Start("here", LIMIT_MS, 1_000_000, run_ns))
    for _ in range(turns_max):
        if here.role.state is RoleState.FINISHED:
            break
        here.turn()
        there.turn()
    for _ in range(4):
        there.turn()
    assert here.role.state is RoleState.FINISHED, here.role.state


def results(actor: Actor, *, checksum: bool = False) -> Results:
    """Return the results of a role."""
    return actor.ask(Result(actor.introduction.role, LIMIT_MS, checksum), Results)
