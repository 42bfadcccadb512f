"""Reading `manifest.json`: what is accepted and what is said about the rest."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.tiny_run import cell, manifest

from reports.errors import ReportError
from reports.manifest import read_manifest
from workloads.records import SCHEMA_VERSION

EXAMPLE = Path(__file__).parents[1] / "harness/data/manifest-example.json"


def write(directory: Path, content: object) -> Path:
    (directory / "manifest.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return directory


def test_the_example_of_the_harness_is_read(tmp_path: Path) -> None:
    read = read_manifest(write(tmp_path, EXAMPLE.read_text()))
    assert read.title == "8-to-1 incast at 10 Gb/s"
    assert [entry.status for entry in read.cells] == ["ok", "failed", "unsupported"]
    assert read.cells[0].number("ideal_goodput_bps") == pytest.approx(9.2586e9, rel=1e-4)
    assert read.git.dirty is False


def test_unknown_keys_of_later_versions_are_ignored(tmp_path: Path) -> None:
    read = read_manifest(write(tmp_path, manifest([cell(colour="blue")], weather="fine")))
    assert read.cells[0].id == "rogue-r1"


def test_title_falls_back_to_name_and_run(tmp_path: Path) -> None:
    assert read_manifest(write(tmp_path, manifest([], experiment={"name": "n"}))).title == "n"
    assert read_manifest(write(tmp_path, manifest([], experiment={}))).title == "20261120T101500Z-000000"


@pytest.mark.parametrize(
    ("experiment", "question"),
    [
        ({"question": "Is it fast?"}, "Is it fast?"),
        ({}, None),
        ({"question": None}, None),
        ({"question": 5}, None),
    ],
)
def test_question_may_be_missing(tmp_path: Path, experiment: dict[str, object], question: str | None) -> None:
    assert read_manifest(write(tmp_path, manifest([], experiment=experiment))).question == question


@pytest.mark.parametrize("value", [True, "9e9", None, [1]])
def test_fact_that_is_no_number_is_none(tmp_path: Path, value: object) -> None:
    read = read_manifest(write(tmp_path, manifest([cell(facts={"ideal_goodput_bps": value})])))
    assert read.cells[0].number("ideal_goodput_bps") is None


BAD: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "newer": (
        lambda: manifest([], schema_version=SCHEMA_VERSION + 1),
        ("schema_version", str(SCHEMA_VERSION + 1), "update"),
    ),
    "not JSON": (lambda: "{", ("not valid JSON",)),
    "a list": (lambda: [], ("expected a JSON object", "list")),
    "no cells": (lambda: {"schema_version": 1}, ("run_id",)),
    "status": (lambda: manifest([cell(status="fine")]), ("cells.0.status", "'fine'")),
    "path as id": (lambda: manifest([cell("../../etc")]), ("cells.0.id", "../../etc")),
    "deep": (lambda: "[" * 100_000, ("not valid JSON",)),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_manifest_is_refused_with_a_sentence(tmp_path: Path, case: str) -> None:
    make, words = BAD[case]
    with pytest.raises(ReportError) as caught:
        read_manifest(write(tmp_path, make()))
    text = str(caught.value)
    assert text.startswith(str(tmp_path / "manifest.json"))
    assert text.endswith(".")
    assert all(word in text for word in words), text


def test_missing_manifest_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such file; give the directory of a run"):
        read_manifest(tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(ReportError, match="not valid JSON"):
        read_manifest(tmp_path)


def test_directory_in_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(ReportError, match="cannot be read"):
        read_manifest(tmp_path)
