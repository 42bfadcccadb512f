"""Manifests in run directories."""

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest
from helpers.small_runs import cell, manifest

from rogue.harness.commands.report import note_report_files
from rogue.harness.errors import DamagedRunError, HarnessError, UsageError
from rogue.harness.results import provenance
from rogue.harness.results.provenance import available_cores, git_facts, host_facts, versions
from rogue.harness.results.run_directory import read_manifest, read_sound_manifest, write_manifest
from rogue.harness.run import reopen_run
from rogue.workloads.manifest import MANIFEST, Manifest, Soundness

EXAMPLE = Path(__file__).parents[1] / "data/manifest-example.json"


def test_writing_and_reading(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(EXAMPLE.read_bytes())
    read = read_manifest(tmp_path)
    write_manifest(tmp_path, read)
    assert read_manifest(tmp_path) == read
    assert json.loads((tmp_path / MANIFEST).read_text()) == json.loads(EXAMPLE.read_text())


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (None, UsageError, "'No such file or directory', expected a run's manifest"),
        ('{"schema_version": 99}', UsageError, "got schema_version 99"),
        ("{", DamagedRunError, "got what is not valid JSON"),
        ('{"schema_version": 1}', DamagedRunError, "run_id: Field required"),
    ],
)
def test_unreadable_manifest_is_an_error(
    tmp_path: Path, content: str | None, kind: type[HarnessError], words: str
) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(kind) as caught:
        read_manifest(tmp_path)
    assert words in str(caught.value)
    assert str(tmp_path / MANIFEST) in str(caught.value)


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A run whose manifest says another seed than was written."""
    write_manifest(tmp_path, Manifest.model_validate(manifest([cell()])))
    text = (tmp_path / MANIFEST).read_text()
    (tmp_path / MANIFEST).write_text(text.replace('"seed": 1', '"seed": 3'))
    return tmp_path


def test_changed_manifest_cannot_be_resumed(changed: Path) -> None:
    assert read_manifest(changed).soundness is Soundness.CHANGED
    with pytest.raises(DamagedRunError, match="changed since it was written: its checksum differs"):
        read_sound_manifest(changed)
    with pytest.raises(DamagedRunError, match="its checksum differs"):
        reopen_run(changed, ["rogue"])


def test_report_keeps_the_checksum_of_a_changed_manifest(changed: Path) -> None:
    (changed / "report.html").touch()
    note_report_files(changed)
    assert "report.html" in read_manifest(changed).files
    assert read_manifest(changed).soundness is Soundness.CHANGED


def test_a_report_leaves_an_old_manifest_without_a_checksum(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(EXAMPLE.read_bytes())
    note_report_files(tmp_path)
    assert read_manifest(tmp_path).soundness is Soundness.UNKNOWN


def git(directory: Path, *arguments: str) -> str:
    identity = {
        f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    return subprocess.run(
        ["git", "-C", str(directory), *arguments],
        check=True, capture_output=True, text=True, env=os.environ | identity,
    ).stdout.strip()  # fmt: skip


def move_package(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    """Move the package there, as in a checkout whose top is two folders above."""
    monkeypatch.setattr(provenance, "PACKAGE", package)
    monkeypatch.setattr(provenance, "CHECKOUT", package.parents[1])


def committed(monkeypatch: pytest.MonkeyPatch, root: Path, package: Path) -> None:
    """Commit a package in a new checkout, and move our package there."""
    package.parent.mkdir(parents=True)
    package.write_text("")
    move_package(monkeypatch, package.parent)
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "first")):
        git(root, *words)


def test_commit_and_whether_it_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src/rogue/__init__.py"
    committed(monkeypatch, tmp_path, package)
    assert (git_facts().commit, git_facts().dirty) == (git(tmp_path, "rev-parse", "HEAD"), False)
    package.write_text("# changed\n")
    assert git_facts().dirty is True


def test_installed_package_has_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_package(monkeypatch, tmp_path / "lib/rogue")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "lib/rogue").mkdir(parents=True)
    stamp = tmp_path / "lib/rogue/commit.json"
    stamp.write_text('{"commit": "c0ffee", "dirty": true}')
    assert (git_facts().commit, git_facts().dirty) == ("c0ffee", True)
    stamp.write_text("{")
    assert git_facts().commit is None


def test_commit_is_unknown_without_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    move_package(monkeypatch, tmp_path / "lib/rogue")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert (git_facts().commit, git_facts().dirty) == (None, None)


def test_copy_inside_another_checkout_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(monkeypatch, tmp_path, tmp_path / "lib/site/rogue/__init__.py")
    assert (git_facts().commit, git_facts().dirty) == (None, None)


def test_versions_of_packages() -> None:
    found = versions()
    assert found["python"] == platform.python_version()
    assert {"rogue-testbed", "numpy", "pyarrow"} <= set(found)


def test_host() -> None:
    host = host_facts()
    assert host.cores == available_cores() >= 1
    assert host.memory_bytes is None or host.memory_bytes > 10**8
    assert platform.release() in host.kernel
