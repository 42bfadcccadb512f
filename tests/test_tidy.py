"""The rules of the style guide that a machine can check: sizes, names, banned calls, sources, paths."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = (
    "harness",
    "remote",
    "reports",
    "rogue_agent",
    "simulator",
    "src/rogue",
    "virtual",
    "workloads",
)
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
BANNED_NAMES = {"utils", "misc", "common", "helpers"}
# The core and the engine get time and randomness from outside; only the command line prints.
BANNED_MODULES = {
    "rogue_agent/core": {"time", "datetime", "random", "secrets", "socket", "subprocess", "os", "uuid"},
    "workloads": {"time", "datetime", "secrets", "socket", "subprocess", "os", "uuid"},
    "simulator": {"time", "datetime", "random", "secrets", "socket", "subprocess", "os", "uuid"},
    "reports": {"random", "secrets", "socket", "subprocess", "uuid"},
}
BANNED_CALLS = {"print", "open", "input"}
PURE = ("rogue_agent/core", "workloads", "simulator")


def code_files() -> list[Path]:
    """Return the files of the package; links in `src/rogue` are not followed."""
    return sorted(path for folder in FOLDERS for path in in_folder(ROOT / folder))


def in_folder(folder: Path) -> list[Path]:
    found = folder.rglob("*.py")
    return [path for path in found if not any(p.is_symlink() for p in path.parents if p != folder)]


def compiled_files() -> list[Path]:
    return sorted(path for suffix in ("cpp", "h") for path in (ROOT / "simulator").rglob(f"*.{suffix}"))


def other_files() -> list[Path]:
    """Return the Python files of tests, playbooks and benchmarks."""
    return sorted(
        path for place in ("tests", "playbooks", "benchmarks") for path in (ROOT / place).rglob("*.py")
    )


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_a_file_has_at_most_400_lines() -> None:
    files = [*code_files(), *compiled_files(), *other_files()]
    lengths = {relative(path): len(path.read_text().splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX} == {}
    assert [name for name in lengths if Path(name).stem in BANNED_NAMES] == [], "name the content"


def test_a_function_has_at_most_50_lines() -> None:
    long = [
        f"{relative(path)}:{node.lineno} {node.name}"
        for path in code_files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - _first_line(node, path) + 1 > FUNCTION_LINES_MAX
    ]
    assert long == []


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> int:
    """Return the line from which a function counts; the options and the help of a command do not."""
    if path.parent.name == "commands" and ast.get_docstring(node):
        return (node.body[0].end_lineno or node.lineno) + 1
    return node.lineno


@pytest.mark.parametrize(("place", "banned"), BANNED_MODULES.items())
def test_nothing_reads_a_clock_or_a_global_random_stream(place: str, banned: set[str]) -> None:
    found = [
        f"{relative(path)}:{node.lineno} imports {name}"
        for path in in_folder(ROOT / place)
        for node in ast.walk(tree(path))
        for name in imported(node)
        if name.split(".")[0] in banned
    ]
    assert found == []


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_pure_boxes_do_no_io() -> None:
    found = [
        f"{relative(path)}:{node.lineno} calls {node.func.id}"
        for place in PURE
        for path in in_folder(ROOT / place)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BANNED_CALLS
    ]
    assert found == []


@pytest.mark.parametrize("path", sorted((ROOT / "rogue_agent/core/cc").glob("[a-z]*.py")), ids=relative)
def test_a_congestion_control_cites_its_source(path: Path) -> None:
    assert "Source:" in path.read_text(), f"{relative(path)} cites no source"


NAMED_FOLDERS = "|".join([*FOLDERS, "tests", "benchmarks", "docs", "experiments", "scripts"])
NAMED_PATH = re.compile(rf"`((?:{NAMED_FOLDERS})/[\w./-]+)`")


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]), ids=relative)
def test_docs_name_files_that_exist(page: Path) -> None:
    for path in NAMED_PATH.findall(page.read_text()):
        assert (ROOT / path).exists(), f"{relative(page)} names {path}"
