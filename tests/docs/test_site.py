"""Tests: the site builds without a warning, and a search finds the right page first."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.pages import ROOT
from lunr import lunr
from mkdocs.commands.build import build
from mkdocs.config import load_config

pytestmark = pytest.mark.long
FIELDS = [{"field_name": "title", "boost": 1000}, {"field_name": "text", "boost": 1}]
"""As Material for MkDocs weighs them."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site strictly, and return its directory."""
    directory = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(directory)))
    return directory


@pytest.fixture(scope="module")
def index(site: Path) -> Any:
    entries = json.loads((site / "search/search_index.json").read_text())["docs"]
    boosted = [(entry, {"boost": entry.get("boost", 1)}) for entry in entries]
    return lunr(ref="location", fields=FIELDS, documents=boosted)


def test_pages_load_nothing_from_the_network(site: Path) -> None:
    loaded = re.compile(
        r"""<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)=["']?(?:https?:)?//[^>]*>"""
    )
    assert {
        page.name: found for page in site.rglob("*.html") if (found := loaded.findall(page.read_text()))
    } == {}


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("PFC", "how-to/two-traffic-classes"),
        ("slowdown", "how-to/read-results"),
        ("badge", "explanation/verdicts"),
        ("SLURM", "how-to/slurm-and-dask"),
        ("citation", "how-to/cite"),
        ("buffer", "how-to/change-a-buffer"),
        ("topology trace", "how-to/own-topology-and-trace"),
        ("reproduce paper", "how-to/reproduce-a-paper"),
        ("percentiles", "reference/results"),
    ],
)
def test_a_search_finds_the_right_page_first(index: Any, words: str, page: str) -> None:
    assert Path(index.search(words)[0]["ref"].partition("#")[0]).with_suffix("").as_posix() == page
