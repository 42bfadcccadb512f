"""A testbed is a folder and a line of the registry: what holds of the folders, however many there are."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rogue.harness import testbeds
from rogue.harness.testbeds import TESTBEDS, BuiltIn, find_testbed, known_testbeds
from rogue.harness.testbeds.kernel import KernelTestbed

PLACE = Path(testbeds.__file__).parent
PACKAGE = testbeds.__name__
SHARED = ("ends", "transfer_tables", "base")
"""What any testbed may import."""
OF_INVENTORIES = "ssh"
FOLDERS = sorted(each.parent.name for each in PLACE.glob("*/__init__.py") if each.parent.name not in SHARED)


def imported(path: Path) -> Iterator[str]:
    """Modules beside the testbeds' registry that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            names = [f"{PACKAGE}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            if name.startswith(f"{PACKAGE}."):
                yield name.removeprefix(f"{PACKAGE}.").partition(".")[0]


def test_every_folder_is_a_line_of_the_registry() -> None:
    lines = [each.module for each in TESTBEDS.values() if isinstance(each, BuiltIn)]
    assert sorted([*lines, OF_INVENTORIES]) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_testbed_imports_no_other(folder: str) -> None:
    for path in (PLACE / folder).rglob("*.py"):
        assert set(imported(path)) <= {folder, *SHARED}, path


@pytest.mark.parametrize("shared", SHARED)
def test_what_they_share_imports_none_of_them(shared: str) -> None:
    found = PLACE / f"{shared}.py"
    for path in [found] if found.is_file() else (PLACE / shared).rglob("*.py"):
        assert set(imported(path)) <= set(SHARED), path


def test_a_line_makes_what_its_folder_names() -> None:
    assert isinstance(BuiltIn("kernel", "KernelTestbed")(), KernelTestbed)
    assert isinstance(find_testbed("kernel"), KernelTestbed)


def test_the_virtual_testbed_has_a_name_too() -> None:
    assert known_testbeds() == (*TESTBEDS, "virtual")
