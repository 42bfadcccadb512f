"""Mistakes that are put into a package on purpose: what is changed, and that tests meet it."""

from pathlib import Path

import pytest
from mutation_score import Mutant, Subject, is_met, main, mutants_of

CORE = Subject("rogue.agent.core")
TEXT = '''"""A docstring stays."""


def larger(left: int, right: int = 3) -> bool:
    """So does this one."""
    assert left < 9, "and what only we would see"
    return left > right and not left == 5
'''


@pytest.fixture
def whats(tmp_path: Path) -> list[str]:
    (tmp_path / "larger.py").write_text(TEXT)
    return [each.what for each in mutants_of(tmp_path / "larger.py")]


def test_each_change_is_made_by_itself(whats: list[str]) -> None:
    assert sorted(whats) == [
        "3  ->  4",
        "5  ->  6",
        "left == 5  ->  left != 5",
        "left > right  ->  left >= right",
        "left > right and (not left == 5)  ->  left > right or not left == 5",
        "not left == 5  ->  left == 5",
        "return left > right and (not left == 5)  ->  return None",
    ]


def test_what_changes_nothing_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("def nothing() -> None:\n    a: int | None\n    return None\n")
    assert list(mutants_of(tmp_path / "nothing.py")) == []


def test_a_changed_core_is_met_and_the_core_as_it_is_is_not() -> None:
    file = CORE.code / "framing.py"
    assert not is_met(Mutant(file, 0, "nothing", file.read_text()), CORE.mirror(file))
    assert is_met(Mutant(file, 0, "all of it", "raise ValueError"), CORE.mirror(file))


@pytest.mark.parametrize("name", ["rogue.agent.core", "rogue.harness.cell", "rogue.reports.metrics"])
def test_a_package_has_its_modules_and_its_tests(name: str) -> None:
    subject = Subject(name)
    modules = [file for file in subject.code.rglob("*.py") if not file.stem.startswith("_")]
    assert modules and subject.tests.is_dir()


def test_a_package_that_is_not_there_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["1", "--package", "rogue.agent.cores"])
    assert "got rogue.agent.cores, expected a package with tests" in capsys.readouterr().err
