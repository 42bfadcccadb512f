"""Programs of messages and computation in GOAL form."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from rogue.workloads.files import DataFile, from_file
from rogue.workloads.specification import Size
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import Placement
from rogue.workloads.traffic.transfer_steps import Sent, Step, Steps, all_of
from rogue.workloads.traffic.workload import Flow, Predecessor, Pushed, Workload


class Operation(NamedTuple):
    """One line of a rank; operations are numbered in the order of the file."""

    kind: Literal["send", "recv", "calc"]
    rank: int
    size: int
    """Bytes; nanoseconds of a calc."""
    peer: int = 0
    """The other rank of a message."""
    match: int | None = None
    """Number of the send that a recv matches."""
    requires: tuple[int, ...] = ()
    """It starts when these are done."""
    irequires: tuple[int, ...] = ()
    """It starts when these have started."""
    tag: int = 0
    """Messages with the same tag between two ranks keep their order."""


class Turn(NamedTuple):
    """The start or the end of an operation."""

    operation: int
    is_done: bool


@dataclass(frozen=True, slots=True)
class GoalSchedule:
    """The operations of a file."""

    file: DataFile
    ranks: int
    operations: Sequence[Operation] = field(compare=False, repr=False)

    def __str__(self) -> str:
        return str(self.file)

    def causes(self, turn: Turn) -> Iterator[Turn]:
        """Yield what must have happened before an operation starts or is done."""
        operation = self.operations[turn.operation]
        if turn.is_done:
            yield Turn(turn.operation, is_done=False)
            if operation.match is not None:
                yield Turn(operation.match, is_done=False)
        else:
            yield from (Turn(each, is_done=True) for each in operation.requires)
            yield from (Turn(each, is_done=False) for each in operation.irequires)

    def turns(self) -> Iterator[Turn]:
        """Yield all turns in topological order, level by level, and within a level in the order of the file.

        Of two messages on one connection, the one with fewer levels before it goes first. Turns in cycles are
        left out.
        """
        missing: dict[Turn, int] = {}
        following: dict[Turn, list[Turn]] = {}
        for number in range(len(self.operations)):
            for turn in (Turn(number, is_done=False), Turn(number, is_done=True)):
                causes = list(self.causes(turn))
                missing[turn] = len(causes)
                for cause in causes:
                    following.setdefault(cause, []).append(turn)
        generation = [turn for turn, count in missing.items() if not count]
        while generation:
            yield from generation
            freed = []
            for turn in generation:
                for after in following.get(turn, ()):
                    missing[after] -= 1
                    if not missing[after]:
                        freed.append(after)
            generation = sorted(freed)

    def first_in_cycle(self) -> int | None:
        """Return the first operation of a cycle; None if all can start."""
        seen = set(self.turns())
        turns = (Turn(number, is_done=True) for number in range(len(self.operations)))
        stuck = next((turn for turn in turns if turn not in seen), None)
        if stuck is None:
            return None
        path: dict[Turn, int] = {}
        while stuck not in path:
            path[stuck] = len(path)
            stuck = next(cause for cause in self.causes(stuck) if cause not in seen)
        return min(turn.operation for turn in list(path)[path[stuck] :])


class Goal(Workload):
    """The operations of a GOAL file: rank n is host hn, send and recv are a transfer, calc is a pause.

    A rank may do several things at once unless one requires the other; cpu and nic are ignored. Messages
    between two hosts share a connection and have at least one byte.

    Source: Hoefler, Schneider and Lumsdaine, "LogGOPSim: simulating large-scale applications in the LogGOPS
    model", 2010; txt2bin.re and LogGOPSim.cpp of spcl/LogGOPSim.
    """

    kind: Literal["goal"] = "goal"
    file: Annotated[GoalSchedule, *from_file(GoalSchedule, "a GOAL file (text)")]
    """The operations; the path is relative to the experiment file."""
    eager_bytes: Size = 65_535
    """A send of at most this is done when it starts, a larger one when it is acknowledged: S of LogGOPSim."""
    verb: Pushed = "write"
    """How the bytes are moved: by their source, which knows when it may start."""

    def hosts_min(self) -> int:
        return self.file.ranks

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        return self._program(placement, seed).steps.flows(self.verb)

    def computed(self, placement: Placement, seed: int) -> tuple[int, tuple[Predecessor, ...]]:
        """Return when all computing is done, even if nothing waits for it: an instant and predecessors."""
        program = self._program(placement, seed)
        last = all_of(program.computed())
        return last.least_ns, program.steps.predecessors(last)

    def _program(self, placement: Placement, seed: int) -> "_Program":
        hosts = placement.hosts[: self.file.ranks]
        program = _Program(self, hosts, [start_jitter_ns(seed, host) for host in hosts])
        for turn in self.file.turns():
            program.take(turn)
        return program


class _Program:
    """Turns operations into steps, each after its causes."""

    def __init__(self, goal: Goal, hosts: Sequence[str], starts_ns: Sequence[int]) -> None:
        self.steps = Steps()
        self._goal = goal
        self._hosts = hosts
        self._ready = [Step(least_ns=start_ns) for start_ns in starts_ns]
        self._sent: dict[int, Sent] = {}
        self._taken: dict[Turn, Step] = {}
        self._tags: dict[tuple[str, str], dict[int, int]] = {}
        """Numbers of the connections of two hosts by tag, so that a waiting message delays no other tag."""

    def take(self, turn: Turn) -> None:
        """Add the next turn."""
        self._taken[turn] = self._done(turn) if turn.is_done else self._started(turn)

    def computed(self) -> Iterator[Step]:
        """Yield the end of each calc."""
        operations = self._goal.file.operations
        for turn, step in self._taken.items():
            if turn.is_done and operations[turn.operation].kind == "calc":
                yield step

    def _started(self, turn: Turn) -> Step:
        schedule = self._goal.file
        operation = schedule.operations[turn.operation]
        step = all_of([self._ready[operation.rank], *(self._taken[cause] for cause in schedule.causes(turn))])
        if operation.kind != "send":
            return step
        source, destination = self._hosts[operation.rank], self._hosts[operation.peer]
        tags = self._tags.setdefault((source, destination), {})
        connection = tags.setdefault(operation.tag, len(tags))
        sent = self.steps.send(source, destination, max(1, operation.size), step, connection=connection)
        self._sent[turn.operation] = sent
        return sent.started

    def _done(self, turn: Turn) -> Step:
        operation = self._goal.file.operations[turn.operation]
        started = self._taken[Turn(turn.operation, is_done=False)]
        if operation.kind == "calc":
            return started.later(operation.size)
        if operation.match is not None:
            return all_of((started, self._sent[operation.match].arrived))
        return started if operation.size <= self._goal.eager_bytes else self._sent[turn.operation].ended
