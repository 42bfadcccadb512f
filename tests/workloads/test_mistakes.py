"""Mistakes that our own checks find."""

import pytest
from pydantic import ValidationError

from rogue.workloads.specification import MISTAKE, Specification, mistake, mistakes_at


class Example(Specification):
    """An example."""

    colour: str
    """Its colour."""


def test_a_mistake_carries_what_a_sentence_needs() -> None:
    found = mistake("a word", "write one", got="nothing")
    assert (found.type, found.message()) == (MISTAKE, "expected a word; write one")
    assert found.context == {"expected": "a word", "advice": "write one", "got": "nothing"}


def test_mistakes_are_blamed_on_their_keys() -> None:
    error = mistakes_at({"a": mistake("x", "y"), "b": mistake("x", "y")})
    assert [each["loc"] for each in error.errors()] == [("a",), ("b",)]


@pytest.mark.parametrize(
    ("key", "advice"), [("color", "write colour if that is meant"), ("size", "remove it")]
)
def test_unknown_keys_are_told_what_there_is(key: str, advice: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Example.model_validate({"colour": "red", key: 1})
    (error,) = caught.value.errors()
    assert error["loc"] == (key,)
    assert error["ctx"] == {"expected": "one of the keys colour", "advice": advice, "got": "an unknown key"}
