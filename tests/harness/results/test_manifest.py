"""The manifest."""

import json
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.results.manifest import MANIFEST, read_manifest, write_manifest
from workloads.records import SCHEMA_VERSION, CellStatus, FailureKind

EXAMPLE = Path(__file__).parents[1] / "data/manifest-example.json"


def run_with(directory: Path, **changes: object) -> Path:
    data = json.loads(EXAMPLE.read_text()) | changes
    (directory / MANIFEST).write_text(json.dumps(data))
    return directory


def test_the_example_can_be_read(tmp_path: Path) -> None:
    manifest = read_manifest(run_with(tmp_path))
    assert [cell.status for cell in manifest.cells] == [
        CellStatus.OK,
        CellStatus.FAILED,
        CellStatus.UNSUPPORTED,
    ]
    assert manifest.cells[1].failure_kind is FailureKind.BUG
    assert manifest.sessions[0].git == manifest.git


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_runs_of_older_schemas_are_read(tmp_path: Path, version: int) -> None:
    assert read_manifest(run_with(tmp_path, schema_version=version)).schema_version == version


def test_writing_and_reading(tmp_path: Path) -> None:
    manifest = read_manifest(run_with(tmp_path))
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    assert json.loads((tmp_path / MANIFEST).read_text()) == json.loads(EXAMPLE.read_text())


def test_later_versions_may_add_keys(tmp_path: Path) -> None:
    assert read_manifest(run_with(tmp_path, colour="red")).run_id


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "'No such file or directory', expected a run's manifest"),
        ("{", "it is damaged"),
        ("[]", "got schema version None"),
        ("{}", "got schema version None"),
        ('{"schema_version": 1}', "run_id: Field required"),
        (f'{{"schema_version": {SCHEMA_VERSION + 1}}}', f"expected schema version {SCHEMA_VERSION} or older"),
        ("\udcff", "it is damaged"),
    ],
)
def test_what_is_no_manifest_gets_a_sentence(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_text(content, errors="surrogateescape")
    with pytest.raises(UsageError) as caught:
        read_manifest(tmp_path)
    assert words in str(caught.value)
