"""Two roles as two data processes would run them, over one fabric in the test's own process."""

import csv
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

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
    workplace: NodeContext
    introduction: Prepared

    def ask(self, request: Message, reply_class: type[ReplyT]) -> ReplyT:
        """Handle a request; return the reply."""
        reply = self.role.handle(request)
        assert isinstance(reply, reply_class), reply
        return reply

    def turn(self) -> None:
        """Run one turn of the loop, without sleeping."""
        self.workplace.poller.turn(HostNs(0))
        self.role.on_time(self.workplace.clock())

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table."""
        self.workplace.spool.flush()
        with self.workplace.spool.paths[name].open() as file:
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

    def workplace(self, role: str) -> NodeContext:
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
        workplace = self.workplace(request.role)
        self.stack.callback(workplace.spool.close)
        events = transfer_events_of(request, workplace.spool, workplace.poller)
        if events is not None:
            self.stack.callback(events.close)
        workplace = replace(workplace, transfer_events=events)
        end = open_end(request, workplace, self.stack)
        return Actor(Role(request, end, self.clock.read, events), workplace, end.introduce(request.role))

    def pair(self, transport: str = "rogue", **options: object) -> tuple[Actor, Actor]:
        """Return a connected requester and responder; `options` are for both `prepare` requests."""
        sizes = {"buffer_bytes": 1_000_000, **options}
        there = self.enter(Prepare("there", LIMIT_MS, "responder", "10.9.0.1", transport, **sizes))  # type: ignore[arg-type]
        here = self.enter(Prepare("here", LIMIT_MS, "requester", "10.9.0.1", transport, **sizes))  # type: ignore[arg-type]
        there.role.handle(Connect("there", LIMIT_MS, here.introduction))
        here.role.handle(Connect("here", LIMIT_MS, there.introduction))
        return here, there


def play(
    here: Actor, there: Actor, load: Load | None, run_ns: int = SECOND_NS, turns_max: int = 20_000
) -> None:
    """Start both roles, and run their loops until the requester is done."""
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
