"""Tests: rules for message fields, and dataclasses read from decoded JSON."""

from dataclasses import dataclass, field

import pytest

from rogue.agent.node.errors import MessageError
from rogue.agent.node.fields import (
    Flag,
    Integer,
    Many,
    Nested,
    Optional,
    Parameters,
    Rule,
    Text,
    from_values,
    rules_of,
    shown,
)

NAME = Text("[a-z]+", 5)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (Integer(1, 3), 1),
        (Integer(1, 3), 3),
        (NAME, "abcde"),
        (Optional(NAME), None),
        (Optional(NAME), "abc"),
        (Flag(), False),
        (Parameters(2), {"alpha": 2.5, "slow_start": True}),
        (Parameters(2), {}),
        (Many(NAME, 2), ["a", "b"]),
    ],
)
def test_what_a_rule_allows(rule: Rule, value: object) -> None:
    rule.check(value, "message.field")


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (Integer(1, 3), 0),
        (Integer(1, 3), 4),
        (Integer(0, 3), True),
        (Integer(1, 3), 2.0),
        (Integer(1, 3), "2"),
        (NAME, "abcdef"),
        (NAME, "abc\n"),
        (NAME, "ABC"),
        (NAME, None),
        (Optional(NAME), 1),
        (Flag(), 1),
        (Parameters(2), {"a": 1, "b": 2, "c": 3}),
        (Parameters(2), {"Alpha": 1}),
        (Parameters(2), {"alpha": [1]}),
        (Parameters(2), {"alpha": "x" * 201}),
        (Parameters(2), [1]),
        (Many(NAME, 2), ["a", "b", "c"]),
        (Many(NAME, 2), ["a", 1]),
        (Many(NAME, 2), "ab"),
    ],
)
def test_what_a_rule_refuses(rule: Rule, value: object) -> None:
    with pytest.raises(MessageError, match=r"^message\.field: got .*, expected "):
        rule.check(value, "message.field")


def test_a_refusal_says_what_was_expected() -> None:
    with pytest.raises(MessageError, match="got 9, expected an integer from 1 to 3"):
        Integer(1, 3).check(9, "start.size_bytes")


def test_long_values_are_shown_cut_short() -> None:
    assert len(shown("x" * 10_000)) < 100


def test_a_rule_needs_both_of_its_parts() -> None:
    class Half(Rule):
        @property
        def expected(self) -> str:
            return "anything"

    with pytest.raises(TypeError, match="abstract"):
        Half()  # type: ignore[abstract]


@dataclass(frozen=True)
class Inner:
    size: int = field(metadata={"rule": Integer(0, 9)})
    spare: int = field(default=1, metadata={"rule": Integer(0, 9)})


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(metadata={"rule": Nested(Inner)})


def test_records_nest() -> None:
    assert from_values(Outer, {"inner": {"size": 3}}, "outer") == Outer(Inner(3))
    assert set(rules_of(Inner)) == {"size", "spare"}


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
def test_what_is_wrong_is_named_with_its_place(values: dict[str, object], problem: str) -> None:
    with pytest.raises(MessageError, match=problem):
        from_values(Outer, values, "outer")
