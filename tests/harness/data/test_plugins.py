"""`register_format`, as the file of an outsider calls it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.plugin_files import example, plugin

from rogue.harness.data.formats import FORMATS
from rogue.harness.errors import ConfigError
from rogue.harness.plugins.loading import load_plugins, unload_plugins

PAIRS = example("how-to/plug-ins.md", "register_format")


@pytest.fixture(autouse=True)
def nothing_stays_loaded() -> Iterator[None]:
    yield
    unload_plugins()


def test_a_format_from_outside_is_imported_listed_and_tried(tmp_path: Path) -> None:
    (tmp_path / "pairs.py").write_text(PAIRS)
    (tmp_path / "a.txt").write_text("0 1\n")
    done = rogue(tmp_path, "import", "pairs", "a.txt", "--plugin", "pairs.py")
    assert (done.code, done.out) == (0, "start_ns,src,dst,size_bytes\n0,h0,h1,1000\n")
    listed = rogue(tmp_path, "list", "formats", "--plugin", "pairs.py")
    assert "hosts that send 1 KB each (plug-in pairs.py)" in listed.out
    tried = rogue(tmp_path, "check-plugin", "pairs.py")
    assert (tried.code, tried.out) == (0, "pairs.py: format pairs keeps the contract\n")


def test_without_its_plugin_a_format_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("0 1\n")
    refused = rogue(tmp_path, "import", "pairs", "a.txt")
    assert refused.code == 2
    assert "got 'pairs', expected one of hpcc-flows, hpcc-topology, htsim-cm, htsim-topo;" in refused.err


def test_what_is_no_format_is_a_sentence_with_its_line() -> None:
    last = PAIRS.count("\n")
    for wrong, words in (
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
        text = PAIRS[: PAIRS.rindex("register_format(")] + wrong + "\n"
        with pytest.raises(ConfigError, match=rf"my\.py:{last}: got .*{words}"):
            load_plugins([plugin(text)])
    assert "pairs" not in FORMATS
