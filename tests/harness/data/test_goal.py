"""GOAL files: what is read, and the one sentence for each kind of nonsense."""

import pytest
from helpers.experiments import GOAL, goal_schedule, refusal

from rogue.harness.data import goal
from rogue.harness.data.goal import read_goal
from rogue.harness.data.source import data_source
from rogue.workloads.traffic.goal import Operation

PAIR = "num_ranks 2\nrank 0 {\nl1: send 9b to 1 tag 4 cpu 0 nic 0\n}\nrank 1 {\nl1: recv 9b from 0 tag 4\n}\n"


def test_operations_have_their_dependencies() -> None:
    found = goal_schedule(
        "/* ranks // one\n */ num_ranks 2 // two /*\nrank 0 {\n  calc 7 cpu 1\n a : send 9b to 1\nb: calc 0\n"
        "b requires a\nb irequires a\n}\nrank 1 {\nrecv 9b from 0\n}\n"
    )
    assert found.ranks == 2
    assert found.operations == (
        Operation("calc", 0, 7),
        Operation("send", 0, 9, 1),
        Operation("calc", 0, 0, requires=(1,), irequires=(1,)),
        Operation("recv", 1, 9, 0, match=1),
    )


def test_messages_match_by_tag_and_then_by_order() -> None:
    found = goal_schedule(
        "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 5\nsend 2b to 1\nsend 3b to 1\n}\n"
        "rank 1 {\nrecv 2b from 0\nrecv 1b from 0 tag 5\nrecv 3b from 0\n}\n"
    )
    assert [each.match for each in found.operations[3:]] == [1, 0, 2]


CYCLE = " a: calc 1\nb: calc 2\na requires b\nb requires a\n}\nrank 1"
SEND, RECV = "l1: send 9b to 1 tag 4 cpu 0 nic 0", "l1: recv 9b from 0 tag 4"
AT = "column 1 of x.goal"
WRONG = (
    ("num_ranks 2\n", "", f"rank 0 in line 1, {AT}, expected num_ranks"),
    ("rank 1", "rank 2", f"2 in line 5, {AT}, expected a rank from 0 to 1"),
    ("to 1", "to 3", f"3 in line 3, {AT}, expected a rank from 0 to 1"),
    ("to 1", "to 0", f"send to 0 in line 3, {AT}, expected another rank"),
    (SEND, "  calc 1", f"recv 9b from 0 tag 4 in line 6, {AT}, expected a send of rank 0 for it"),
    (RECV, "calc 1", f"send 9b to 1 tag 4 in line 3, {AT}, expected a recv of rank 1 for it"),
    ("recv 9b", "recv 8b", "expected 9b, as its send in line 3 has"),
    ("tag 4 cpu", f"tag {'4' * 5000} cpu", f"444 in line 3, {AT}, expected num_ranks"),
    ("recv 9b from", "recv 9b to", "recv ... to in line 6, column 1"),
    ("from 0", "from -1", f"-1 in line 6, {AT}, expected a rank and a tag"),
    ("}\nrank 1", "  l1 requires l7\n}\nrank 1", "l7 in line 4, column 15 of x.goal, expected a label"),
    ("}\nrank 1", "l1: calc 1\n}\nrank 1", f"l1 in line 4, {AT}, expected a label"),
    ("9b to", "-9b to", "l1: send -9b to 1 tag 4 cpu 0 nic 0 in line 3, column 1"),
    ("9b", "9" * 30 + "b", "expected a size or time from 0 to"),
    ("}\nrank 1 {", "rank 1 {", f"rank 1 in line 4, {AT}, expected }} of rank 0"),
    (PAIR, PAIR[:-2], f"the end of the file in line 7, {AT}, expected }} that ends rank 1"),
    (PAIR, "num_ranks 2\n", "none in x.goal, expected num_ranks, and operations of ranks"),
    (PAIR, PAIR + "num_ranks 1\n", f"num_ranks 1 in line 8, {AT}, expected num_ranks once"),
    (PAIR, PAIR + " /* /* \n" * 3, "in line 8, column 2 of x.goal, expected */ that ends the comment"),
    (PAIR, PAIR + " /* /* \n" * 3, "/* without an end in line 8, column 2 of x.goal"),
    (PAIR, "/* " + PAIR, "/* without an end in line 1, column 1"),
    ("9b to", "/*/ 9b to", "/* without an end in line 3, column 10"),
    ("num_ranks 2", "num_ranks 0", "0 in line 1, column 1"),
    ("}\nrank 1", CYCLE, "a cycle in line 4, column 2 of x.goal, expected operations that do not wait"),
    ("}\nrank 1", CYCLE, "expected operations that do not wait for themselves"),
)


@pytest.mark.parametrize(("part", "other", "sentence"), WRONG)
def test_wrong_schedule_names_line_and_column(part: str, other: str, sentence: str) -> None:
    assert sentence in refusal(read_goal, "x.goal", PAIR.replace(part, other))


def test_dependencies_are_ordered_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    head = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\n"
    text = head + "c requires b\nc requires a\nc irequires a\nc requires b\n}\n"
    assert goal_schedule(text).operations[2] == Operation("calc", 0, 1, requires=(1, 0, 1), irequires=(0,))
    monkeypatch.setattr(goal, "WAITS_MAX", 3)
    assert refusal(read_goal, "x.goal", text).startswith(
        "one more in line 9, column 1 of x.goal, expected at most 3 lines with req"
    )
    other = "}\nrank 0 {\n a: calc 1\n b: calc 1\n b requires a\n}\n"
    assert refusal(read_goal, "x.goal", text.replace("c requires b\n}\n", other)).startswith(
        "one more in line 13, column 2"
    )


def test_the_example_is_read() -> None:
    assert read_goal(data_source("ring.goal", GOAL.read_bytes())).ranks == 4
