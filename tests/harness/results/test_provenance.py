"""Facts about the code and the machine."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

from rogue.harness.results import provenance
from rogue.harness.results.provenance import available_cores, git_facts, host_facts, versions


def git(directory: Path, *arguments: str) -> str:
    identity = {
        f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return subprocess.run(
        ["git", "-C", str(directory), *arguments],
        check=True, capture_output=True, text=True, env=os.environ | identity,
    ).stdout.strip()  # fmt: skip


def stand(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    """Let the package stand there, as in a checkout whose top is two folders above."""
    monkeypatch.setattr(provenance, "PACKAGE", package)
    monkeypatch.setattr(provenance, "CHECKOUT", package.parents[1])


def test_commit_and_whether_it_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src/rogue/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text("")
    stand(monkeypatch, package.parent)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    assert (git_facts().commit, git_facts().dirty) == (git(tmp_path, "rev-parse", "HEAD"), False)
    package.write_text("# changed\n")
    assert git_facts().dirty is True


def test_an_installed_package_says_of_which_commit_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand(monkeypatch, tmp_path / "lib/rogue")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "lib/rogue").mkdir(parents=True)
    stamp = tmp_path / "lib/rogue/commit.json"
    stamp.write_text('{"commit": "c0ffee", "dirty": true}')
    assert (git_facts().commit, git_facts().dirty) == ("c0ffee", True)
    stamp.write_text("{")
    assert git_facts().commit is None


def test_without_a_checkout_nothing_is_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand(monkeypatch, tmp_path / "lib/rogue")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert (git_facts().commit, git_facts().dirty) == (None, None)


def test_a_copy_inside_another_checkout_is_not_that_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lib/site/rogue/__init__.py"
    package.parent.mkdir(parents=True)
    package.write_text("")
    stand(monkeypatch, package.parent)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "theirs")
    assert (git_facts().commit, git_facts().dirty) == (None, None)


def test_versions_of_what_shapes_results() -> None:
    found = versions()
    assert found["python"] == platform.python_version()
    assert {"rogue-testbed", "numpy", "pyarrow"} <= set(found)


def test_host() -> None:
    host = host_facts()
    assert host.cores == available_cores() >= 1
    assert host.memory_bytes is None or host.memory_bytes > 10**8
    assert platform.release() in host.kernel
