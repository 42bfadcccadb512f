"""The house rules that a machine can check: sizes, names, banned calls, mirrored tests."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = {  # of the package, and where their tests stand
    "harness": "tests/harness",
    "remote": "tests/remote",
    "reports": "tests/reports",
    "rogue_agent": "tests/agent",
    "simulator": "tests/simulator",
    "src/rogue": "tests",
    "virtual": "tests/virtual",
    "workloads": "tests/workloads",
}
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 50
BANNED_NAMES = {"utils", "misc", "common", "helpers"}
# The core and the engine get time and randomness from outside; only the command line talks to a person.
BANNED_MODULES = {
    "rogue_agent/core": {"time", "datetime", "random", "secrets", "socket", "subprocess", "os", "uuid"},
    "workloads": {"time", "datetime", "secrets", "socket", "subprocess", "os", "uuid"},
    "simulator": {"time", "datetime", "random", "secrets", "socket", "subprocess", "os", "uuid"},
    "reports": {"random", "secrets", "socket", "subprocess", "uuid"},
}
BANNED_CALLS = {"print", "open", "input"}
PURE = ("rogue_agent/core", "workloads", "simulator")


def code_files() -> list[Path]:
    """Files of the package, each once: what `src/rogue` links to is a folder of its own here."""
    return sorted(path for folder in FOLDERS for path in in_folder(ROOT / folder))


def in_folder(folder: Path) -> list[Path]:
    found = folder.rglob("*.py")
    return [path for path in found if not any(p.is_symlink() for p in path.parents if p != folder)]


def compiled_files() -> list[Path]:
    return sorted(path for suffix in ("cpp", "h") for path in (ROOT / "simulator").rglob(f"*.{suffix}"))


def other_files() -> list[Path]:
    """Tests, and what nodes and benchmarks run; their folders may be called what packages may not."""
    return sorted(
        path for place in ("tests", "playbooks", "benchmarks") for path in (ROOT / place).rglob("*.py")
    )


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_a_file_is_one_idea() -> None:
    """What has more lines is to be split by operation."""
    files = [*code_files(), *compiled_files(), *other_files()]
    lengths = {relative(path): len(path.read_text().splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX} == {}
    assert [name for name in lengths if Path(name).stem in BANNED_NAMES] == [], "say what is in it"


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{relative(path)}:{node.lineno} {node.name}"
        for path in code_files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > FUNCTION_LINES_MAX
    ]
    assert long == []


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


def test_each_module_has_its_test() -> None:
    assert [relative(path) for path in code_files() if not has_its_test(path)] == []


def has_its_test(path: Path) -> bool:
    """Beside others of its folder, or in one for the folder."""
    if path.name in {"__init__.py", "__main__.py"}:
        return True
    folder = next(each for each in FOLDERS if path.is_relative_to(ROOT / each))
    mirrored = ROOT / FOLDERS[folder] / path.parent.relative_to(ROOT / folder)
    own, of_folder = f"test_{path.stem.strip('_')}.py", f"test_{path.parent.name}.py"
    return (mirrored / own).exists() or (mirrored.parent / of_folder).exists()


@pytest.mark.parametrize("path", sorted((ROOT / "rogue_agent/core/cc").glob("[a-z]*.py")), ids=relative)
def test_a_congestion_control_cites_its_source(path: Path) -> None:
    assert "Source:" in path.read_text(), f"{relative(path)} cites no source"


NAMED_FOLDERS = "|".join([*FOLDERS, "tests", "benchmarks", "docs", "experiments", "scripts"])
NAMED_PATH = re.compile(rf"`((?:{NAMED_FOLDERS})/[\w./-]+)`")


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]), ids=relative)
def test_docs_name_files_that_exist(page: Path) -> None:
    for path in NAMED_PATH.findall(page.read_text()):
        assert (ROOT / path).exists(), f"{relative(page)} names {path}"
