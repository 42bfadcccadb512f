"""The house rules that a machine can check: sizes, names, banned calls, mirrored tests."""

import ast
import re
from collections.abc import Iterator
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


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", [*code_files(), *compiled_files(), *other_files()], ids=relative)
def test_a_file_is_one_idea(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= FILE_LINES_MAX, f"{relative(path)} has {lines} lines; split it by operation"
    assert path.stem not in BANNED_NAMES, f"{relative(path)}: name the file after what is in it"


@pytest.mark.parametrize("path", code_files(), ids=relative)
def test_a_function_fits_on_a_screen(path: Path) -> None:
    for function in functions(path):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        assert lines <= FUNCTION_LINES_MAX, (
            f"{relative(path)}:{function.lineno} {function.name} has {lines} lines"
        )


@pytest.mark.parametrize("path", code_files(), ids=relative)
def test_nothing_reads_a_clock_or_a_global_random_stream(path: Path) -> None:
    banned = next(
        (names for place, names in BANNED_MODULES.items() if relative(path).startswith(place)), set()
    )
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name.split(".")[0] not in banned, f"{relative(path)}:{node.lineno} imports {name}"


@pytest.mark.parametrize("path", [p for p in code_files() if relative(p).startswith(PURE)], ids=relative)
def test_pure_boxes_do_no_io(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in BANNED_CALLS, f"{relative(path)}:{node.lineno} calls {node.func.id}"


@pytest.mark.parametrize("path", code_files(), ids=relative)
def test_each_module_has_its_test(path: Path) -> None:
    if path.name in {"__init__.py", "__main__.py"}:
        return
    folder = next(each for each in FOLDERS if path.is_relative_to(ROOT / each))
    mirrored = ROOT / FOLDERS[folder] / path.parent.relative_to(ROOT / folder)
    own, of_folder = f"test_{path.stem.strip('_')}.py", f"test_{path.parent.name}.py"
    candidates = [mirrored / own, mirrored.parent / of_folder]
    assert any(test.exists() for test in candidates), (
        f"no test for {relative(path)}: expected {relative(candidates[0])}"
    )


@pytest.mark.parametrize("path", sorted((ROOT / "rogue_agent/core/cc").glob("[a-z]*.py")), ids=relative)
def test_a_congestion_control_cites_its_source(path: Path) -> None:
    assert "Source:" in path.read_text(), f"{relative(path)} cites no source"


NAMED_FOLDERS = "|".join([*FOLDERS, "tests", "benchmarks", "docs", "experiments", "scripts"])
NAMED_PATH = re.compile(rf"`((?:{NAMED_FOLDERS})/[\w./-]+)`")


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]), ids=relative)
def test_docs_name_files_that_exist(page: Path) -> None:
    for path in NAMED_PATH.findall(page.read_text()):
        assert (ROOT / path).exists(), f"{relative(page)} names {path}"
