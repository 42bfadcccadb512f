"""Rules for message fields, and the messages of the control protocol."""

from dataclasses import dataclass, field

import pytest

from rogue.agent.node.fields import (
    FLAG,
    MessageError,
    Rule,
    from_values,
    integer,
    many,
    matching,
    nested,
    optional,
    parameters,
    rules_of,
    shown,
)
from rogue.agent.node.messages import Message
from rogue.agent.node.wire import REPLY_TYPES, REQUEST_TYPES

MESSAGES = [*REQUEST_TYPES.values(), *REPLY_TYPES.values()]
NAME = matching("[a-z]+", 5)
ONE_TO_THREE = integer(1, 3)


@pytest.mark.parametrize(
    ("rule", "allowed", "refused"),
    [
        (ONE_TO_THREE, [1, 3], [0, 4, True, 2.0, "2"]),
        (NAME, ["abcde"], ["abcdef", "abc\n", "ABC", None]),
        (optional(NAME), [None, "abc"], [1]),
        (FLAG, [False], [1]),
        (
            parameters(2),
            [{}, {"alpha": 2.5, "slow_start": True}],
            [{"a": 1, "b": 2, "c": 3}, {"Alpha": 1}, {"alpha": [1]}, {"alpha": "x" * 201}, [1]],
        ),
        (many(NAME, 2), [[], ["a", "b"], ["a", "a"]], [["a", "b", "c"], ["a", 1], "ab"]),
        (many(ONE_TO_THREE, 3, 1, are_distinct=True), [[1, 2]], [[], [1, 1]]),
    ],
    ids=["integer", "matching", "optional", "flag", "parameters", "many", "distinct"],
)
def test_rules(rule: Rule, allowed: list[object], refused: list[object]) -> None:
    assert [rule.read(value, "message.field") for value in allowed] == allowed
    for value in refused:
        with pytest.raises(MessageError, match=r"^message\.field: got .*, expected "):
            rule.read(value, "message.field")


def test_long_values_are_shown_cut_short() -> None:
    assert len(shown("x" * 10_000)) < 100


@dataclass(frozen=True)
class Inner:
    size: int = field(metadata={"rule": integer(0, 9)})
    spare: int = field(default=1, metadata={"rule": integer(0, 9)})


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(metadata={"rule": nested(Inner)})


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "outer: missing fields 'inner'"),
        ({"inner": 3}, "outer.inner: got 3, expected an object with the fields of Inner"),
        ({"inner": {}}, "outer.inner: missing fields 'size'"),
        ({"inner": {"size": 10}}, "outer.inner.size: got 10"),
        ({"inner": {"size": 1, "colour": 2}}, "outer.inner: unknown fields 'colour'"),
    ],
)
def test_errors_name_the_place(values: dict[str, object], problem: str) -> None:
    with pytest.raises(MessageError, match=problem):
        from_values(Outer, values, "outer")


@pytest.mark.parametrize("message_class", MESSAGES, ids=lambda each: each.wire_type)
def test_every_field_of_every_message_has_a_rule(message_class: type[Message]) -> None:
    assert all(isinstance(rule, Rule) for rule, _ in rules_of(message_class).values())


def test_every_message_has_its_own_type_on_the_wire() -> None:
    assert len({each.wire_type for each in MESSAGES}) == len(MESSAGES)
