"""Folders of the engine include each other one way only: what a folder is made of stands below it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CPP = Path(__file__).parents[3] / "simulator" / "cpp"
LAYERS = (
    ("binding",),
    ("engine", "reference"),
    ("catalogue", "results"),
    ("tcp",),
    ("reliability",),
    ("cc",),
    ("protocol",),
    ("base", "rogue"),
)
"""From top to bottom; `rogue` is the interface for controls from outside. As in docs/explanation/architecture.md."""
DEPTHS = {folder: depth for depth, layer in enumerate(LAYERS) for folder in layer}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def included(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text())


def steps() -> Iterator[tuple[str, str, str]]:
    """Folder, the folder that it includes, and where."""
    for path in sorted([*CPP.rglob("*.h"), *CPP.rglob("*.cpp")]):
        for target in included(path):
            here, there = path.parent.name, target.partition("/")[0]
            if here != there:
                yield here, there, f"{path.relative_to(CPP)} includes {target}"


def test_every_folder_has_its_layer() -> None:
    assert {path.name for path in CPP.iterdir()} | {"rogue"} == set(DEPTHS)


def test_an_include_names_its_folder() -> None:
    files = [*CPP.rglob("*.h"), *CPP.rglob("*.cpp")]
    assert [path.name for path in files if any("/" not in target for target in included(path))] == []


@pytest.mark.parametrize("folder", [path.name for path in CPP.iterdir()])
def test_a_folder_includes_lower_layers_only(folder: str) -> None:
    wrong = [where for here, there, where in steps() if here == folder and DEPTHS[there] <= DEPTHS[folder]]
    assert wrong == []
