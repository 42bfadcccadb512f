from dataclasses import dataclass, field

import pytest

from rogue.agent.node.errors import MessageError
from rogue.agent.node.fields import Integer, Nested, from_values, rules_of


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
