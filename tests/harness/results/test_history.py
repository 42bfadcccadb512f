"""What git says of the commits since a run, in a checkout that the test makes."""

import subprocess
from pathlib import Path

import pytest

from rogue.harness.results import history, provenance
from rogue.harness.results.history import changes_since


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "T")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "t@example.org")
    git(tmp_path, "init", "-q", "-b", "main")
    monkeypatch.setattr(history, "CHECKOUT", tmp_path)
    monkeypatch.setattr(provenance, "CHECKOUT", tmp_path)
    return tmp_path


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def commit(root: Path, subject: str, **files: str) -> str:
    for name, content in files.items():
        (root / name).write_text(content)
    git(root, "add", "-A")
    git(root, "-c", "commit.gpgsign=false", "commit", "-q", "-m", subject)
    return git(root, "rev-parse", "HEAD").strip()


def test_changes_have_their_subjects_and_files_the_newest_first(checkout: Path) -> None:
    first = commit(checkout, "one", a="1\n" * 9)
    second = commit(checkout, "two: a and b", a="2\n" * 9, b="1\n")
    third = commit(checkout, "three", é="1\n")
    assert changes_since(first) == [(third, "three", ("é",)), (second, "two: a and b", ("a", "b"))]
    assert changes_since(third) == []


def test_a_file_that_only_moved_was_not_changed(checkout: Path) -> None:
    first = commit(checkout, "one", a="1\n" * 9)
    git(checkout, "mv", "a", "c")
    moved = commit(checkout, "moved")
    assert changes_since(first) == [(moved, "moved", ())]


@pytest.mark.parametrize("named", [None, "", "--all", "0" * 40, "main"])
def test_a_commit_that_is_not_here_has_no_changes_that_anybody_knows(
    checkout: Path, named: str | None
) -> None:
    commit(checkout, "one", a="1")
    assert changes_since(named) is None


def test_a_commit_on_a_side_is_not_before_ours(checkout: Path) -> None:
    commit(checkout, "one", a="1")
    git(checkout, "checkout", "-q", "-b", "side")
    aside = commit(checkout, "aside", a="2")
    git(checkout, "checkout", "-q", "main")
    assert changes_since(aside) is None


def test_without_a_checkout_nobody_knows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "CHECKOUT", tmp_path)
    assert changes_since("1234567890ab") is None
