"""Each plug-in that ships is what an outsider could write: one file, by the public interface alone."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rogue.harness.plugins.contract import contract_faults
from rogue.harness.plugins.loading import load_plugins, unload_plugins
from rogue.harness.plugins.on_demand import PLACE
from rogue.harness.plugins.source import read_plugin

FILES = sorted(PLACE.glob("*/[a-z]*.py"))
KINDS = {"formats": "format", "platforms": "switch_platform"}
DOCS = Path(__file__).parents[3] / "docs"
PROMISED = re.compile(r"`(rogue(?:\.[a-z_0-9]+)+)|^from (rogue[\w.]+) import", re.MULTILINE)


@pytest.fixture(autouse=True)
def nothing_stays_loaded() -> Iterator[None]:
    yield
    unload_plugins()


def name_of(file: Path) -> str:
    return file.stem.replace("_", "-")


def test_there_are_four_of_each() -> None:
    assert [file.parent.name for file in FILES] == ["formats"] * 4 + ["platforms"] * 4


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_it_works_as_the_file_of_an_outsider(file: Path, tmp_path: Path) -> None:
    """Out of the tree, under another name, by the door that every plug-in takes."""
    text = file.read_text()
    assert text.count(f'"{name_of(file)}"') == 1, "it names itself once"
    copy = tmp_path / "mine.py"
    copy.write_text(text.replace(f'"{name_of(file)}"', '"mine"'))
    (loaded,) = load_plugins([read_plugin(str(copy), "--plugin mine.py")])
    assert loaded.adds == (f"{KINDS[file.parent.name]} mine",)
    assert contract_faults(loaded) == []


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_it_imports_the_standard_library_and_what_is_promised_to_outsiders(file: Path) -> None:
    pages = "".join((DOCS / page).read_text() for page in ("PLUGINS.md", "SWITCHES.md"))
    promised = {one or other for one, other in PROMISED.findall(pages)}
    for node in ast.walk(ast.parse(file.read_text())):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        for name in names:
            assert name.partition(".")[0] in sys.stdlib_module_names or name in promised, name
