"""Transfers that wait for others, one by one: for programs in which few can start at once."""

from itertools import pairwise

from rogue.workloads.traffic.program import NOTHING, START, Integers, Program


class OneByOne:
    """The transfers of a program that can start, each behind its causes."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._joins: list[int] = program.joins.tolist()
        self._firsts = set(program.firsts.tolist())
        self._waiting: dict[int, list[int]] = {}
        for transfer, join in enumerate(self._joins):
            self._waiting.setdefault(join, []).append(transfer)
        self._causing: dict[int, list[tuple[int, bool, int]]] = {}
        join_firsts = program.join_firsts.tolist()
        causes, pauses_ns = program.causes.tolist(), program.pauses_ns.tolist()
        are_starts = (program.moments == START).tolist()
        for join in range(len(join_firsts) - 1):
            for row in range(join_firsts[join], join_firsts[join + 1]):
                self._causing.setdefault(causes[row], []).append((join, are_starts[row], pauses_ns[row]))
        self._missing_causes = [end - first for first, end in pairwise(join_firsts)]
        self._order = self._sorted()

    def _sorted(self) -> list[int]:
        missing = [(join != NOTHING) + (place not in self._firsts) for place, join in enumerate(self._joins)]
        missing_causes, last = self._missing_causes, len(missing) - 1
        order = [transfer for transfer, count in enumerate(missing) if not count]
        for transfer in order:  # which grows meanwhile
            followers = [transfer + 1] if transfer < last and transfer + 1 not in self._firsts else []
            for join, _, _ in self._causing.get(transfer, ()):
                missing_causes[join] -= 1
                if not missing_causes[join]:
                    followers += self._waiting.get(join, ())
            for follower in followers:
                missing[follower] -= 1
                if not missing[follower]:
                    order.append(follower)
        return order

    def __len__(self) -> int:
        """How many transfers can start."""
        return len(self._order)

    def last_end_ns(self, took_ns: Integers) -> int:
        """When the last one ends if each takes so long."""
        starts_ns, took, last_ns = self._program.starts_ns.tolist(), took_ns.tolist(), 0
        joins_ns = [0] * len(self._missing_causes)
        for transfer in self._order:
            join, start_ns = self._joins[transfer], starts_ns[transfer]
            if join != NOTHING:
                start_ns = max(start_ns, joins_ns[join])
            if transfer not in self._firsts:
                start_ns = max(start_ns, starts_ns[transfer - 1])
            starts_ns[transfer] = start_ns
            end_ns = start_ns + took[transfer]
            last_ns = max(last_ns, end_ns)
            for after, is_start, pause_ns in self._causing.get(transfer, ()):
                joins_ns[after] = max(joins_ns[after], (start_ns if is_start else end_ns) + pause_ns)
        return last_ns
