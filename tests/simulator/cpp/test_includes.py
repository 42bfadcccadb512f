"""The C++ folders include lower layers only."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CPP = ROOT / "simulator/cpp"
FOLDERS = [*CPP.iterdir(), ROOT / "tests/simulator/reference_engine"]
FILES = sorted(path for folder in FOLDERS for path in folder.rglob("*") if path.suffix in (".h", ".cpp"))
LAYERS = (
    ("reference_engine",),
    ("binding",),
    ("engine",),
    ("catalogue", "results"),
    ("tcp",),
    ("reliability",),
    ("cc",),
    ("protocol",),
    ("base", "rogue"),
)
"""From top to bottom; `rogue` is the plug-in interface. As in docs/explanation/simulator.md."""
DEPTHS = {folder: depth for depth, layer in enumerate(LAYERS) for folder in layer}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def included(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text())


def steps() -> Iterator[tuple[str, str, str]]:
    """Yield a folder, the folder that it includes, and a message."""
    for path in FILES:
        for target in included(path):
            here, there = path.parent.name, target.partition("/")[0]
            if here != there:
                yield here, there, f"{path.relative_to(ROOT)} includes {target}"


def test_every_folder_has_its_layer() -> None:
    assert {path.name for path in FOLDERS} | {"rogue"} == set(DEPTHS)


def test_an_include_names_its_folder() -> None:
    assert [path.name for path in FILES if any("/" not in target for target in included(path))] == []


@pytest.mark.parametrize("folder", [path.name for path in FOLDERS])
def test_a_folder_includes_lower_layers_only(folder: str) -> None:
    wrong = [where for here, there, where in steps() if here == folder and DEPTHS[there] <= DEPTHS[folder]]
    assert wrong == []
