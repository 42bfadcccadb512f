"""What a GOAL file says: operations of ranks, and which of them wait for which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rogue.workloads.files import DataFile


class Operation(NamedTuple):
    """One line of a rank; operations are numbered in the order of the file."""

    kind: Literal["send", "recv", "calc"]
    rank: int
    size: int
    """Bytes; nanoseconds of a calc."""
    peer: int = 0
    """The other rank of a message."""
    match: int | None = None
    """The send of a recv."""
    requires: tuple[int, ...] = ()
    """It starts when these are done."""
    irequires: tuple[int, ...] = ()
    """It starts when these have started."""
    tag: int = 0
    """Messages of one tag between two ranks pass each other nowhere."""


class Turn(NamedTuple):
    """An operation starts, or is done."""

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
        """What must have happened before an operation starts or is done."""
        operation = self.operations[turn.operation]
        if turn.is_done:
            yield Turn(turn.operation, is_done=False)
            if operation.match is not None:
                yield Turn(operation.match, is_done=False)
        else:
            yield from (Turn(each, is_done=True) for each in operation.requires)
            yield from (Turn(each, is_done=False) for each in operation.irequires)

    def turns(self) -> Iterator[Turn]:
        """Each after its causes, by how many turns must come before it, and else in the order of the file.

        So of two messages on one connection the one goes first that can go sooner, if all turns last as long.
        Those in cycles are left out.
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
        """The first operation that waits for itself, or for one that does; None if all can start."""
        seen = set(self.turns())
        turns = (Turn(number, is_done=True) for number in range(len(self.operations)))
        stuck = next((turn for turn in turns if turn not in seen), None)
        if stuck is None:
            return None
        way: dict[Turn, int] = {}
        while stuck not in way:
            way[stuck] = len(way)
            stuck = next(cause for cause in self.causes(stuck) if cause not in seen)
        return min(turn.operation for turn in list(way)[way[stuck] :])
