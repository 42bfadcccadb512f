"""CITATION.cff has what version 1.2.0 of its schema requires, and the version of this project."""

import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
# Source: Guide to Citation File Format schema version 1.2.0.
FILE_KEYS = {"cff-version", "message", "title", "authors"}
REFERENCE_KEYS = {"type", "title", "authors"}


def test_it_has_the_required_keys() -> None:
    assert CITATION.keys() >= FILE_KEYS
    assert CITATION["cff-version"] == "1.2.0"
    for reference in CITATION["references"]:
        assert reference.keys() >= REFERENCE_KEYS
    for authors in (CITATION["authors"], *(each["authors"] for each in CITATION["references"])):
        assert all("name" in author or "family-names" in author for author in authors)


def test_it_names_this_version_and_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (CITATION["version"], CITATION["license"]) == (project["version"], project["license"])


def test_it_names_the_paper_whose_claims_came_first() -> None:
    assert [reference["doi"] for reference in CITATION["references"]] == ["10.1145/3267809.3267826"]
