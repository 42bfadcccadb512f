"""Manifests in run directories."""

import json
from pathlib import Path

import pytest

from rogue.harness.errors import UsageError
from rogue.harness.results.manifest import read_manifest, write_manifest
from rogue.workloads.manifest import MANIFEST

EXAMPLE = Path(__file__).parents[1] / "data/manifest-example.json"


def test_writing_and_reading(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_bytes(EXAMPLE.read_bytes())
    manifest = read_manifest(tmp_path)
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    assert json.loads((tmp_path / MANIFEST).read_text()) == json.loads(EXAMPLE.read_text())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "'No such file or directory', expected a run's manifest"),
        ("{", "got what is not valid JSON"),
        ('{"schema_version": 1}', "run_id: Field required"),
    ],
)
def test_what_is_no_manifest_gets_a_sentence(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(UsageError) as caught:
        read_manifest(tmp_path)
    assert words in str(caught.value)
    assert str(tmp_path / MANIFEST) in str(caught.value)
