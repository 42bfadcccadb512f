"""GOAL files: the text form of LogGOPSim's schedules.

Source: txt2bin.re of spcl/LogGOPSim (ac9608d): `num_ranks N`, `rank R { ... }`, and in it a line each of
`[label:] send SIZEb to RANK [tag T] [cpu C] [nic N]`, `recv SIZEb from RANK ...`, `calc NANOSECONDS [cpu C]`,
`label requires label` and `label irequires label`; comments as in C++.
"""

import re
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Final

from pydantic_core import PydanticCustomError

from rogue.harness.data.source import DataSource
from rogue.workloads.specification import mistake
from rogue.workloads.topologies.topology import HOSTS_MAX
from rogue.workloads.traffic.goal import GoalSchedule, Operation

OPERATIONS_MAX: Final = 1_000_000
WAITS_MAX: Final = 4_000_000
SIZE_MAX: Final = 10**13
_COMMENT: Final = re.compile(r"/\*|//[^\n]*")
_NUM_RANKS: Final = re.compile(r"num_ranks\s+(\d{1,99})")
_RANK: Final = re.compile(r"rank\s+(\d{1,99})\s*\{")
_MESSAGE: Final = re.compile(
    r"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?(?P<kind>send|recv)\s+(?P<size>\d{1,99})\s*b\s+(?P<word>to|from)\s+"
    r"(?P<peer>-1|\d{1,99})(?:\s+tag\s+(?P<tag>-1|\d{1,99}))?(?:\s+cpu\s+\d{1,99})?(?:\s+nic\s+\d{1,99})?"
)
_CALC: Final = re.compile(
    r"(?:(?P<label>[A-Za-z]\w*)\s*:\s*)?calc\s+(?P<size>\d{1,99})(?:\s+cpu\s+\d{1,99})?"
)
_WAIT: Final = re.compile(r"(?P<label>[A-Za-z]\w*)\s+(?P<how>i?requires)\s+(?P<other>[A-Za-z]\w*)")
_EXPECTED: Final = (
    "num_ranks N, rank R {, send SIZEb to RANK, recv SIZEb from RANK, calc NANOSECONDS, a requires b or }"
)
Place = tuple[int, int]
"""Line and column, from 1."""


@dataclass(slots=True)
class _Reading:
    name: str
    ranks: int | None = None
    rank: int | None = None
    operations: list[Operation] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    waits: list[tuple[re.Match[str], Place]] = field(default_factory=list)
    """Those of the rank that is being read."""
    waits_count: int = 0
    tags: dict[int, int] = field(default_factory=dict)

    def wrong(self, place: Place, expected: str, got: str) -> PydanticCustomError:
        """Return the mistake at a place of the file."""
        line, column = place
        where = f"{got} in line {line}, column {column} of {self.name}"
        return mistake(expected, "correct the file", where)


def read_goal(source: DataSource) -> GoalSchedule:
    """Read a schedule; a mistake names line and column."""
    reading = _Reading(source.name)
    lines = _without_comments(reading, source.text).split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            _read_line(reading, line.rstrip(), number)
    if reading.rank is not None:
        raise reading.wrong((len(lines), 1), f"}} that ends rank {reading.rank}", "the end of the file")
    if not reading.operations:
        raise mistake("num_ranks, and operations of ranks", "write some", f"none in {source.name}")
    _match(reading)
    schedule = GoalSchedule(source.file, reading.ranks or 0, tuple(reading.operations))
    stuck = schedule.first_in_cycle()
    if stuck is not None:
        raise reading.wrong(reading.places[stuck], "operations that do not wait for themselves", "a cycle")
    return schedule


def _without_comments(reading: _Reading, text: str) -> str:
    """Replace comments by spaces, so that lines and columns stay."""
    parts, past = [], 0
    while found := _COMMENT.search(text, past):
        start, end = found.span()
        if found.group() == "/*":
            end = text.find("*/", end) + len("*/")
            if end < start + len("/**/"):
                place = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
                raise reading.wrong(place, "*/ that ends the comment", "/* without an end")
        parts += [text[past:start], re.sub(r"[^\n]", " ", text[start:end])]
        past = end
    return "".join((*parts, text[past:]))


def _read_line(reading: _Reading, line: str, number: int) -> None:
    column = len(line) - len(line.lstrip()) + 1
    place, words = (number, column), line.strip()
    if found := _NUM_RANKS.fullmatch(words):
        if reading.ranks is not None:
            raise reading.wrong(place, "num_ranks once", words[:40])
        reading.ranks = _bounded(reading, place, int(found[1]), 1, HOSTS_MAX, "ranks")
    elif found := _RANK.fullmatch(words):
        _begin_rank(reading, place, int(found[1]))
    elif words == "}" and reading.rank is not None:
        _end_rank(reading)
    elif reading.rank is not None and (found := _MESSAGE.fullmatch(words) or _CALC.fullmatch(words)):
        _add(reading, place, found)
    elif reading.rank is not None and (found := _WAIT.fullmatch(words)):
        if reading.waits_count >= WAITS_MAX:
            raise reading.wrong(place, f"at most {WAITS_MAX} lines with requires or irequires", "one more")
        reading.waits.append((found, place))
        reading.waits_count += 1
    else:
        raise reading.wrong(place, _EXPECTED, words[:40])


def _bounded(  # noqa: PLR0913 - a number, its bounds and what it is
    reading: _Reading, place: Place, value: int, least: int, most: int, what: str
) -> int:
    if not least <= value <= most:
        raise reading.wrong(place, f"{what} from {least} to {most}", str(value)[:20])
    return value


def _begin_rank(reading: _Reading, place: Place, rank: int) -> None:
    if reading.ranks is None or reading.rank is not None:
        expected = (
            "num_ranks before the first rank" if reading.ranks is None else f"}} of rank {reading.rank}"
        )
        raise reading.wrong(place, expected, f"rank {rank}")
    reading.rank = _bounded(reading, place, rank, 0, reading.ranks - 1, "a rank")


def _add(reading: _Reading, place: Place, found: re.Match[str]) -> None:
    assert reading.rank is not None
    assert reading.ranks is not None
    parts = found.groupdict()
    number = len(reading.operations)
    if number >= OPERATIONS_MAX:
        raise reading.wrong(place, f"at most {OPERATIONS_MAX} operations", "one more")
    size = _bounded(reading, place, int(parts["size"]), 0, SIZE_MAX, "a size or time")
    if parts["label"]:
        if parts["label"] in reading.labels:
            raise reading.wrong(place, "a label that the rank has once", parts["label"])
        reading.labels[parts["label"]] = number
    if "peer" not in parts:
        reading.operations.append(Operation("calc", reading.rank, size))
    else:
        tag = int(parts["tag"] or 0)
        reading.operations.append(_message(reading, place, parts, size)._replace(tag=max(0, tag)))
        reading.tags[number] = tag
    reading.places.append(place)


def _message(reading: _Reading, place: Place, parts: dict[str, str], size: int) -> Operation:
    assert reading.rank is not None
    assert reading.ranks is not None
    kind, word = parts["kind"], parts["word"]
    if (kind == "send") != (word == "to"):
        raise reading.wrong(place, "send ... to, recv ... from", f"{kind} ... {word}")
    if "-1" in (parts["peer"], parts["tag"]):
        raise reading.wrong(place, "a rank and a tag, because who matches -1 is a matter of time", "-1")
    peer = _bounded(reading, place, int(parts["peer"]), 0, reading.ranks - 1, "a rank")
    if peer == reading.rank:
        raise reading.wrong(place, "another rank than its own", f"{kind} {word} {peer}")
    return Operation("send" if kind == "send" else "recv", reading.rank, size, peer)


def _end_rank(reading: _Reading) -> None:
    waits: dict[int, dict[str, list[int]]] = {}
    for found, (line, column) in reading.waits:
        numbers = []
        for part in ("label", "other"):
            if found[part] not in reading.labels:
                place = line, column + found.start(part)
                raise reading.wrong(place, f"a label of rank {reading.rank}", found[part])
            numbers.append(reading.labels[found[part]])
        number, other = numbers
        waits.setdefault(number, {"requires": [], "irequires": []})[found["how"]].append(other)
    for number, others in waits.items():
        requires, irequires = tuple(others["requires"]), tuple(others["irequires"])
        operation = reading.operations[number]
        reading.operations[number] = operation._replace(requires=requires, irequires=irequires)
    reading.rank = None
    reading.labels.clear()
    reading.waits.clear()


def _match(reading: _Reading) -> None:
    """Give the n-th recv of a rank the n-th send of its source with its tag."""
    sends: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    for number, operation in enumerate(reading.operations):
        if operation.kind == "send":
            sends[operation.rank, operation.peer, reading.tags[number]].append(number)
    for number, operation in enumerate(reading.operations):
        if operation.kind != "recv":
            continue
        waiting = sends[operation.peer, operation.rank, reading.tags[number]]
        got = f"recv {operation.size}b from {operation.peer} tag {reading.tags[number]}"
        if not waiting:
            raise reading.wrong(reading.places[number], f"a send of rank {operation.peer} for it", got)
        send = waiting.popleft()
        if reading.operations[send].size != operation.size:
            expected = f"{reading.operations[send].size}b, as its send in line {reading.places[send][0]} has"
            raise reading.wrong(reading.places[number], expected, got)
        reading.operations[number] = operation._replace(match=send)
    left = min((number for waiting in sends.values() for number in waiting), default=None)
    if left is not None:
        send_left = reading.operations[left]
        got = f"send {send_left.size}b to {send_left.peer} tag {reading.tags[left]}"
        raise reading.wrong(reading.places[left], f"a recv of rank {send_left.peer} for it", got)
