"""Programs of messages and computing, as LogGOPSim and ATLAHS take them."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from rogue.workloads.files import from_file
from rogue.workloads.specification import Size
from rogue.workloads.streams import start_jitter_ns
from rogue.workloads.topologies.topology import Placement
from rogue.workloads.traffic.goal_schedule import GoalSchedule, Turn
from rogue.workloads.traffic.steps import Sent, Step, Steps, all_of
from rogue.workloads.traffic.workload import Flow, Predecessor, Pushed, Workload


class Goal(Workload):
    """The operations of a GOAL file: rank n is host hn, send and recv are a transfer, calc takes its time.

    A rank may do several things at once unless one requires the other, whatever cpu and nic say. Messages
    between two hosts share a connection, and have a byte at least.

    Source: Hoefler, Schneider and Lumsdaine, "LogGOPSim: simulating large-scale applications in the LogGOPS
    model", 2010; txt2bin.re and LogGOPSim.cpp of spcl/LogGOPSim.
    """

    kind: Literal["goal"] = "goal"
    file: Annotated[GoalSchedule, *from_file(GoalSchedule, "a GOAL file (text)")]
    """The operations, named from the place of the experiment file."""
    eager_bytes: Size = 65_535
    """A send of at most this is done when it starts, a larger one when it is acknowledged: S of LogGOPSim."""
    verb: Pushed = "write"
    """How the bytes are moved: by their source, which knows when it may begin."""

    def hosts_min(self) -> int:
        """A host for each rank."""
        return self.file.ranks

    def flows(self, placement: Placement, seed: int) -> tuple[Flow, ...]:
        """One flow for each pair of ranks of which one sends to the other, and each tag between them."""
        return self._program(placement, seed).steps.flows(self.verb)

    def computed(self, placement: Placement, seed: int) -> tuple[int, tuple[Predecessor, ...]]:
        """When all computing is done, also what nothing waits for: not before this instant and these."""
        program = self._program(placement, seed)
        last = all_of(program.computed())
        return last.least_ns, program.steps.predecessors(last)

    def _program(self, placement: Placement, seed: int) -> "_Program":
        hosts = placement.hosts[: self.file.ranks]
        program = _Program(self, hosts, [start_jitter_ns(seed, host) for host in hosts])
        for turn in self.file.turns():
            program.take(turn)
        return program

    @property
    def duration_ns(self) -> None:
        """When every message has been moved."""
        return None


class _Program:
    """Operations become steps, each after its causes."""

    def __init__(self, goal: Goal, hosts: Sequence[str], starts_ns: Sequence[int]) -> None:
        self.steps = Steps()
        self._goal = goal
        self._hosts = hosts
        self._ready = [Step(least_ns=start_ns) for start_ns in starts_ns]
        self._sent: dict[int, Sent] = {}
        self._taken: dict[Turn, Step] = {}
        self._tags: dict[tuple[str, str], dict[int, int]] = {}
        """Numbers of the connections of two hosts, by tag: one that waits holds up no other tag's."""

    def take(self, turn: Turn) -> None:
        """The next turn, in order."""
        self._taken[turn] = self._done(turn) if turn.is_done else self._started(turn)

    def computed(self) -> Iterator[Step]:
        """When each calc is done."""
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
