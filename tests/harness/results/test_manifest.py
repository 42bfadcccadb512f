"""Manifests in run directories."""

import json
from pathlib import Path

import pytest
from helpers.small_runs import cell, manifest

from rogue.harness.commands.report import note_report_files
from rogue.harness.errors import DamagedRunError, HarnessError, UsageError
from rogue.harness.results.manifest import read_manifest, read_sound_manifest, write_manifest
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
def test_what_is_no_manifest_gets_a_sentence(
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


def test_what_was_changed_is_read_but_nobody_goes_on_from_it(changed: Path) -> None:
    assert read_manifest(changed).soundness is Soundness.CHANGED
    with pytest.raises(DamagedRunError, match="changed since it was written: its checksum differs"):
        read_sound_manifest(changed)
    with pytest.raises(DamagedRunError, match="its checksum differs"):
        reopen_run(changed, ["rogue"])


def test_a_report_gives_no_new_checksum_to_what_was_changed(changed: Path) -> None:
    (changed / "report.html").touch()
    note_report_files(changed)
    assert "report.html" in read_manifest(changed).files
    assert read_manifest(changed).soundness is Soundness.CHANGED


def test_a_report_leaves_an_old_manifest_without_a_checksum(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(EXAMPLE.read_bytes())
    note_report_files(tmp_path)
    assert read_manifest(tmp_path).soundness is Soundness.UNKNOWN
