"""What `make coverage` runs, keeps and counts."""

import subprocess
from pathlib import Path
from typing import Any

import branch_coverage
import pytest
from branch_coverage import MEASURED, folders, main, measure, percent_of, state_of, told


def summary(lines: int, statements: int, taken: int, branches: int) -> dict[str, Any]:
    counts = {"covered_lines": lines, "num_statements": statements}
    return {"summary": {**counts, "covered_branches": taken, "num_branches": branches}}


def test_each_folder_is_a_part(tmp_path: Path) -> None:
    for file in ("a/test_2.py", "a/test_1.py", "a/b/test_3.py", "a/b/no_test.py", "c/test_4.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert sorted(folders(tmp_path, ["a"])) == [["a/b/test_3.py"], ["a/test_1.py", "a/test_2.py"]]


def test_what_was_measured_of_other_files_is_not_taken(tmp_path: Path) -> None:
    file = tmp_path / "harness" / "a.py"
    file.parent.mkdir()
    file.write_text("a = 1")
    before = state_of(tmp_path)
    assert state_of(tmp_path) == before
    file.write_text("a = 2")
    changed = state_of(tmp_path)
    file.rename(file.with_name("b.py"))
    assert len({before, changed, state_of(tmp_path)}) == 3


def test_percent_is_of_statements_and_branches_together() -> None:
    """As coverage itself counts with --branch: (8 + 3) of (10 + 10)."""
    files = {
        "harness/a.py": summary(5, 5, 3, 5),
        "harness/b/c.py": summary(3, 5, 0, 5),
        "harnessed.py": summary(0, 99, 0, 99),
    }
    assert percent_of({"files": files}, "rogue.harness") == (55.0, 3, 10)


def test_each_package_must_have_enough() -> None:
    good = {f"{place}/a.py": summary(9, 10, 9, 10) for place in MEASURED.values()}
    lines, is_enough = told({"files": good})
    assert is_enough
    assert lines[0] == "rogue.harness: 90.0 % of statements and branches; 9 of 10 branches (90.0 %)"
    _, is_enough = told({"files": {**good, "harness/b.py": summary(9, 10, 8, 10)}})
    assert not is_enough


def ended(code: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pytest that ends so, after it wrote its data; what it was called with."""
    called: list[str] = []

    def run(call: list[str], env: dict[str, str], **_rest: object) -> subprocess.CompletedProcess[bytes]:
        called.extend(call)
        Path(env["COVERAGE_FILE"]).write_bytes(b"data")
        return subprocess.CompletedProcess(call, code)

    monkeypatch.setattr(subprocess, "run", run)
    return called


@pytest.mark.parametrize(
    ("code", "told_code", "is_kept"), [(0, 0, True), (5, 0, True), (1, 1, False), (2, 2, False)]
)
def test_a_part_is_kept_when_its_tests_pass(
    code: int, told_code: int, is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = ended(code, monkeypatch)
    assert measure(["tests/a/test_1.py"], tmp_path / "a.data", "2") == told_code
    assert (tmp_path / "a.data").exists() == is_kept
    assert called[-1] == "tests/a/test_1.py"


def test_it_goes_on_with_the_parts_that_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [["tests/a/test_1.py"], ["tests/b/test_2.py"]]
    asked: list[str] = []
    codes = iter([0, 1, 0])

    def measured(files: list[str], data: Path, _jobs: str) -> int:
        asked.extend(files)
        code = next(codes)
        if code == 0:
            data.touch()
        return code

    monkeypatch.setattr(branch_coverage, "KEPT", tmp_path)
    monkeypatch.setattr(branch_coverage, "state_of", lambda _root: "state")
    monkeypatch.setattr(branch_coverage, "folders", lambda _root, _tests: parts)
    monkeypatch.setattr(branch_coverage, "measure", measured)
    good = {f"{place}/a.py": summary(9, 10, 9, 10) for place in MEASURED.values()}
    monkeypatch.setattr(branch_coverage, "combined", lambda _kept: {"files": good})
    assert main([]) == 1
    assert main([]) == 0
    assert asked == ["tests/a/test_1.py", "tests/b/test_2.py", "tests/b/test_2.py"]
    monkeypatch.setattr(branch_coverage, "combined", lambda _kept: {"files": {}})
    assert main([]) == 1, "of nothing nothing is enough"
