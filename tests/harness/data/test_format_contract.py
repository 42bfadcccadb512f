"""The contract holds for every format that ships, and finds what breaks it."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from rogue.harness.data.formats import FORMATS, OURS
from rogue.harness.data.formats.format import Converted, Format, wrong
from rogue.harness.data.plugins import SAMPLES, format_faults
from rogue.harness.data.source import DataSource, data_source

COUNT = count()
Convert = Callable[[DataSource], Converted]


@pytest.fixture
def faults() -> Iterator[Callable[..., list[str]]]:
    """What is wrong with a format made of these."""

    def of(read: Convert, write: Convert | None = None) -> list[str]:
        FORMATS["broken"] = Format("broken", "trace", read, write)
        return format_faults("broken")

    yield of
    del FORMATS["broken"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_that_ships_keeps_it(name: str) -> None:
    assert format_faults(name) == []


@pytest.mark.parametrize("kind", OURS)
def test_there_is_a_file_of_ours_to_try_each_kind_with(kind: str) -> None:
    assert OURS[kind](data_source("ours", SAMPLES[kind].encode()))


def refused(source: DataSource) -> Converted:
    raise wrong(source, 1, "this", "that")


def test_what_says_mistakes_and_nothing_else_keeps_it(faults: Callable[..., list[str]]) -> None:
    assert faults(refused) == []


def test_what_raises_is_named(faults: Callable[..., list[str]]) -> None:
    def divides(source: DataSource) -> Converted:
        return Converted(str(1 // len(source.text)))

    assert faults(divides) == ["it raises ZeroDivisionError: integer division or modulo by zero"]


def test_another_result_for_the_same_file_is_named(faults: Callable[..., list[str]]) -> None:
    (fault,) = faults(lambda _source: Converted(str(next(COUNT))))
    assert fault == "'' was read twice, with two results"


def test_what_is_written_must_be_read_as_it_was(faults: Callable[..., list[str]]) -> None:
    def both(source: DataSource) -> Converted:
        return Converted(source.text)

    assert faults(both, both) == []

    def longer(source: DataSource) -> Converted:
        return Converted(source.text.replace(",a", ",aa"))

    (fault,) = faults(both, longer)
    assert fault.startswith("what is written, read and written again says start_ns,")
