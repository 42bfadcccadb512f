"""Tests: keys of an experiment file, those that name data files, and probes."""

import pytest
from helpers.experiments import FLOWS, trace_rows
from pydantic import BaseModel, ValidationError

from rogue.harness.data.files import files_beside
from rogue.workloads.files import DataFile
from rogue.workloads.probes import PROBES, Write0
from rogue.workloads.specification import (
    MISTAKE,
    Size,
    SizeOrUnbounded,
    Specification,
    meanings,
    mistake,
    mistakes_at,
)
from rogue.workloads.traffic.trace import Trace


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


def validated(file: object, context: object = None) -> Trace:
    return Trace.model_validate({"kind": "trace", "file": file}, context=context)


def test_a_name_is_read_by_whoever_validates() -> None:
    trace = validated(FLOWS.name, files_beside(str(FLOWS)))
    assert len(trace.file) == 5
    assert trace.model_dump()["file"] == FLOWS.name


def test_what_was_read_already_is_taken_as_it_is() -> None:
    rows = trace_rows(FLOWS.read_text())
    assert validated(rows).file is rows


def test_without_anybody_who_reads_there_is_no_file() -> None:
    with pytest.raises(ValidationError, match="expected no file of data here"):
        validated(FLOWS.name)


@pytest.mark.parametrize("value", ["", 3, None, ["flows.csv"]])
def test_what_is_no_name_is_a_mistake(value: object) -> None:
    with pytest.raises(ValidationError, match="expected the name of a CSV or Parquet file"):
        validated(value, files_beside(str(FLOWS)))


def test_files_are_equal_by_name_and_content() -> None:
    assert trace_rows("start_ns,src,dst,size_bytes\n0,h0,h1,1\n") == trace_rows(
        "start_ns,src,dst,size_bytes\n0,h0,h1,1\n"
    )
    assert DataFile("a.csv", "1") != DataFile("a.csv", "2")


@pytest.mark.parametrize("kind", PROBES)
def test_probe_is_endless_and_on_a_grid(kind: str) -> None:
    flow = PROBES[kind].model_validate({"interval": "1ms"}).flow("h9", "h8", seed=1)
    assert (flow.source, flow.destination) == ("h9", "h8")
    assert (flow.count, flow.repeat_until_ns, flow.interval_ns) == (None, None, 1_000_000)


def test_it_moves_no_payload() -> None:
    flow = Write0.model_validate({"interval": "1ms"}).flow("h9", "h8", seed=1)
    assert (flow.verb, flow.size_bytes) == ("write", 0)


@pytest.mark.parametrize("interval", ["0ms", 1, "1"])
def test_interval_needs_a_unit(interval: object) -> None:
    with pytest.raises(ValidationError):
        Write0.model_validate({"interval": interval})
