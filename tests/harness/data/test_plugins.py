"""Test formats of plug-ins and their contract."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.plugin_files import example, plugin

from rogue.harness.data.formats import FORMATS, OURS
from rogue.harness.data.formats.format import Converted, Format, wrong
from rogue.harness.data.plugins import SAMPLES, format_faults
from rogue.harness.data.source import DataSource, data_source
from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import load_plugins, unload_plugins

COUNT = count()
Convert = Callable[[DataSource], Converted]


@pytest.fixture
def faults() -> Iterator[Callable[..., list[str]]]:
    """Return a function for the faults of a format made of these."""

    def of(read: Convert, write: Convert | None = None) -> list[str]:
        FORMATS["broken"] = Format("broken", "trace", read, write)
        return format_faults("broken")

    yield of
    del FORMATS["broken"]


@pytest.mark.parametrize("name", FORMATS)
def test_shipped_formats_keep_the_contract(name: str) -> None:
    assert format_faults(name) == []


@pytest.mark.parametrize("kind", OURS)
def test_each_kind_has_a_sample(kind: str) -> None:
    assert OURS[kind](data_source("ours", SAMPLES[kind].encode()))


def refused(source: DataSource) -> Converted:
    raise wrong(source, 1, "this", "that")


def test_mistakes_are_within_the_contract(faults: Callable[..., list[str]]) -> None:
    assert faults(refused) == []


def test_exception_is_a_fault(faults: Callable[..., list[str]]) -> None:
    def divides(source: DataSource) -> Converted:
        return Converted(str(1 // len(source.text)))

    assert faults(divides) == ["it raises ZeroDivisionError: integer division or modulo by zero"]


def test_varying_result_is_a_fault(faults: Callable[..., list[str]]) -> None:
    (fault,) = faults(lambda _source: Converted(str(next(COUNT))))
    assert fault == "'' was read twice, with two results"


def test_written_file_must_read_back_equal(faults: Callable[..., list[str]]) -> None:
    def both(source: DataSource) -> Converted:
        return Converted(source.text)

    assert faults(both, both) == []

    def longer(source: DataSource) -> Converted:
        return Converted(source.text.replace(",a", ",aa"))

    (fault,) = faults(both, longer)
    assert fault.startswith("what is written, read and written again says start_ns,")


PAIRS = example("how-to/plug-ins.md", "register_format")


@pytest.fixture(autouse=True)
def nothing_stays_loaded() -> Iterator[None]:
    yield
    unload_plugins()


def test_plugged_format_is_imported_listed_and_checked(tmp_path: Path) -> None:
    (tmp_path / "pairs.py").write_text(PAIRS)
    (tmp_path / "a.txt").write_text("0 1\n")
    done = rogue(tmp_path, "import", "pairs", "a.txt", "--plugin", "pairs.py")
    assert (done.code, done.out) == (0, "start_ns,src,dst,size_bytes\n0,h0,h1,1000\n")
    listed = rogue(tmp_path, "list", "formats", "--plugin", "pairs.py")
    assert "hosts that send 1 KB each (plug-in pairs.py)" in listed.out
    tried = rogue(tmp_path, "check-plugin", "pairs.py")
    assert (tried.code, tried.out) == (0, "pairs.py: format pairs keeps the contract\n")


def test_format_needs_its_plugin(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 1\n")
    refused = rogue(tmp_path, "import", "pairs", "a.txt")
    assert refused.code == 2
    assert "got 'pairs', expected one of hpcc-flows, hpcc-topology, htsim-cm, htsim-topo;" in refused.err


def test_wrong_registration_has_its_line() -> None:
    last = PAIRS.count("\n")
    for call, words in (
        ('register_format("pairs", read_pairs)', "as a format, expected Format"),
        (
            'register_format("pairs", Format("x", "goal", read_pairs))',
            "a format that becomes 'goal', expected",
        ),
        (
            'register_format("Pairs", Format("x", "trace", read_pairs))',
            "the name 'Pairs' of a format, expected",
        ),
    ):
        text = PAIRS[: PAIRS.rindex("register_format(")] + call + "\n"
        with pytest.raises(ConfigError, match=rf"my\.py:{last}: got .*{words}"):
            load_plugins([plugin(text)])
    assert "pairs" not in FORMATS
