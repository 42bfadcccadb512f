"""Tests: the base of everything an experiment file can contain, and the types of its values."""

import pytest
from pydantic import BaseModel, ValidationError

from rogue.workloads.specification import (
    MISTAKE,
    Size,
    SizeOrUnbounded,
    Specification,
    meanings,
    mistake,
    mistakes_at,
)


class Example(Specification):
    """An example."""

    burst_bytes: Size
    """Bytes at once."""
    buffer_bytes: SizeOrUnbounded = None
    """Room for them."""


def test_field_is_written_without_its_unit() -> None:
    assert Example.model_validate({"burst": "64KiB", "buffer": "unbounded"}).burst_bytes == 65_536


@pytest.mark.parametrize("key", ["burst_bytes", "bursts"])
def test_other_keys_are_refused(key: str) -> None:
    with pytest.raises(ValidationError):
        Example.model_validate({"burst": "64KiB", key: "1KB"})


@pytest.mark.parametrize("burst", ["0KB", "11TB"])
def test_what_nobody_can_mean_is_refused(burst: str) -> None:
    with pytest.raises(ValidationError, match="from 1B to 10TB"):
        Example.model_validate({"burst": burst})


def test_it_cannot_be_changed() -> None:
    example = Example.model_validate({"burst": "64KiB"})
    with pytest.raises(ValidationError, match="frozen"):
        example.burst_bytes = 1


def test_json_schema_knows_the_unit() -> None:
    assert Example.model_json_schema()["properties"]["burst"]["examples"] == ["128MB"]


class Base(BaseModel):
    """A model."""

    rate_bps: int = 1
    """Of a link,
    in bits per second."""
    bare: int = 2


class Derived(Base):
    """One that adds to it."""

    bare: int = 3
    """Explained here alone."""


def test_a_field_is_explained_by_the_text_below_it_or_below_that_of_a_base() -> None:
    assert meanings(Base) == {"rate_bps": "Of a link,\nin bits per second."}
    assert meanings(Derived) == {**meanings(Base), "bare": "Explained here alone."}


class MistakesExample(Specification):
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
        MistakesExample.model_validate({"colour": "red", key: 1})
    (error,) = caught.value.errors()
    assert error["loc"] == (key,)
    assert error["ctx"] == {"expected": "one of the keys colour", "advice": advice, "got": "an unknown key"}
