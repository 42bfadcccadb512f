"""Tests: the report's page."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.html_page import Page
from helpers.sample_run import QUESTION, Sample, write_sample_run
from helpers.small_runs import SECOND, cell, delivery, manifest, tiny_view, transfer
from jinja2 import UndefinedError

from rogue.reports.figures import FIGURES
from rogue.reports.pages.build import build
from rogue.reports.templates.environment import environment

# The sample is one incast: nothing is swept, nothing fails and recovers, no transfer comes at its own time,
# no host’s processor is watched, no transfers are drawn at random, no two factors vary, no flows are many,
# and no published number is about it.
DRAWN = len(FIGURES) - 12


@pytest.fixture(scope="module")
def html(report: Path) -> str:
    return report.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_tags_are_balanced_and_ids_unique(page: Page) -> None:
    assert page.unbalanced == []
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)


def test_links_and_labels_point_to_something(page: Page) -> None:
    labels = {
        word for _, attributes in page.elements for word in (attributes.get("aria-labelledby") or "").split()
    }
    assert page.targets >= {"main", "run1-summary", "run1-claims"}
    assert page.targets | labels <= set(page.ids)


def test_needs_nothing_from_outside(html: str, page: Page) -> None:
    assert page.all("script") == [{}], "its own, which the policy names by its digest"
    assert page.all("img") == []
    for _, attributes in page.elements:
        for key in ("src", "href", "xlink:href", "action"):
            assert not re.match(r"(https?:)?//", attributes.get(key) or ""), attributes
    assert "@import" not in html
    policy = next(m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def assert_headings_descend(page: Page) -> None:
    levels = page.heading_levels
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_headings_descend_without_gaps(page: Page) -> None:
    assert_headings_descend(page)


def test_tables_have_captions_and_scoped_headers(page: Page) -> None:
    assert len(page.all("caption")) == len(page.all("table")) >= 6
    assert all(header.get("scope") in {"row", "col"} for header in page.all("th"))


def test_figures_have_text_alternatives(page: Page) -> None:
    pictures = page.all("svg")
    assert len(pictures) == DRAWN
    assert all(picture["role"] == "img" and picture["aria-labelledby"] for picture in pictures)
    assert len(page.all("figcaption")) == DRAWN


def test_can_be_used_with_the_keyboard(page: Page) -> None:
    first_link = page.all("a")[0]
    assert (first_link["class"], first_link["href"]) == ("skip", "#main")
    scrolling = [a for _, a in page.elements if {"scroll", "plot"} & set((a.get("class") or "").split())]
    assert scrolling
    assert all(a.get("tabindex") == "0" and a.get("aria-label") for a in scrolling)


def test_first_screen_is_question_answer_table_and_figure(html: str, page: Page) -> None:
    """In this order, before verdicts and provenance."""
    top = (QUESTION, 'class="answer"', 'class="banner"', '"scroll answer-table"', "<figure")
    marks = (*top, 'class="chips"', 'class="trust"')
    places = [html.index(mark) for mark in marks]
    assert places == sorted(places)
    chips = [a for a in page.all("a") if "chip" in (a.get("class") or "").split()]
    assert chips
    assert {chip["href"] for chip in chips} == {"#run1-claims"}
    assert (
        "Native RoCE without PFC failed in 1 of 3 cells (bug): ZeroDivisionError: division by zero."
        in page.text
    )
    assert "Not run: RoCE with DCQCN (the simulator has no roce+dcqcn yet). Status" in page.text


def test_run_without_question_and_claims(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(manifest([cell(status="pending")], status="running")))
    text = build(tmp_path).read_text()
    assert 'class="question"' not in text
    assert 'class="chips"' not in text
    assert "run1-claims" not in text
    assert "Not run: 1 cell still pending." in text
    assert re.search(r"\d+ published claims are about other experiments; <code>rogue claims</code>", text)


def test_language_title_and_dark_mode(html: str, page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    assert "<title>8-to-1 incast at 10 Gb/s · RoGUE testbed</title>" in html
    assert "Side by side" not in html, "a single run has nothing beside it"
    assert html.count("prefers-color-scheme: dark") == 2
    assert "@media print" in html


HOSTILE = '<script>alert("x")</script>'


def test_hostile_strings_are_text(tmp_path: Path) -> None:
    """In every place that a manifest has for words; each says which it was."""
    directory = write_sample_run(tmp_path, Sample(repetitions=1, seconds=1.0, failed=("roce-r1",)))
    path = directory / "manifest.json"
    content = json.loads(path.read_text())
    done, failed = content["cells"]
    places = ("title", "question", "message", "transport", "fact", "flow", "factor", "value", "commit")
    word = {place: HOSTILE.replace("x", place) for place in places}
    content["experiment"] |= {"title": word["title"], "question": word["question"]}
    failed["message"], done["transport"] = word["message"], word["transport"]
    done["facts"][word["flow"]] = word["fact"]
    done["factors"] = {f"workload.{word['factor']}": word["value"]}
    content["git"] = {"commit": word["commit"], "dirty": False}
    path.write_text(json.dumps(content))
    text = build(directory).read_text()
    page = Page(text)
    assert text.count("<script") == 1, "its own"
    assert page.unbalanced == []
    assert [place for place in places if word[place] not in " ".join(page.words)] == []


def test_hostile_names_in_the_tables_are_text(tmp_path: Path) -> None:
    flow = f"main/{HOSTILE}"
    tables = {
        "flows": [transfer(f"{flow}{n}", src="</text><script>", status="error") for n in (1, 2)],
        "throughput": [delivery(f"{flow}{n}", t * SECOND, 5) for n in (1, 2) for t in (1, 2)],
        "queues": [{"node": "s0", "port": HOSTILE, "t_ns": SECOND, "bytes": 5000, "max_bytes": 6000}],
    }
    view = tiny_view(tmp_path, tables, ideal_goodput_bps=100)
    text = build(view.run.directory).read_text()
    assert text.count("<script") == 1, "its own"
    assert Page(text).unbalanced == []
    assert "&lt;/text&gt;&lt;sc" in text, "the host is named under its mark, cut to what fits"


def test_strange_characters_do_not_stop_the_report(tmp_path: Path) -> None:
    name = "\x00\x1b[31m \ud800 $x_1$ %s {0} {{ x }} \u202e txt.exe"
    directory = write_sample_run(tmp_path, Sample(transports=("rogue",), repetitions=1, seconds=1.0))
    path = directory / "manifest.json"
    content = json.loads(path.read_text())
    content["experiment"]["title"] = name
    content["cells"][0]["transport"] = name
    path.write_text(json.dumps(content))
    assert Page(build(directory).read_text(encoding="utf-8")).unbalanced == []


def test_run_without_any_result_is_still_a_report(tmp_path: Path) -> None:
    failed = cell(status="failed", failure_kind="timeout", message="no answer after 30 s")
    (tmp_path / "manifest.json").write_text(json.dumps(manifest([failed], status="partial")))
    page = Page(build(tmp_path).read_text())
    assert "No cell finished, so there is nothing to compare." in page.text
    assert "no answer after 30 s" in page.text
    assert f"{len(FIGURES)} figures not drawn, and why" in page.text
    assert page.unbalanced == []


def test_two_runs_on_one_page_do_not_clash(tmp_path: Path) -> None:
    sample = Sample(repetitions=2, seconds=1.0, file="experiments/rogue-paper/figure-14a.yaml")
    runs = [write_sample_run(tmp_path / name, sample) for name in ("one", "other")]
    text = build(runs, tmp_path / "both.html").read_text()
    page = Page(text)
    assert len(set(page.ids)) == len(page.ids)
    assert text.count(f'<p class="question">{QUESTION}</p>') == 2
    assert page.text.count("Against what was published:") == 2
    assert len(page.all("svg")) == 2 * DRAWN
    assert_headings_descend(page)


def test_each_claim_has_an_anchor_its_figure_and_its_command(html: str, page: Page) -> None:
    claims = {name for name in page.ids if name.startswith("run1-claim-")}
    assert "run1-claim-R-21-roce-goodput" in claims
    labels = [a.get("aria-label") or "" for a in page.all("a")]
    for name in claims:
        identifier = name.removeprefix("run1-claim-")
        assert any(label.startswith(f"{identifier}: its ") for label in labels), name
    assert "rogue run rogue-paper/figure-14a</code>" in html


def test_cells_not_run_are_one_sentence(html: str) -> None:
    assert re.search(r"Of the other claims \d+ need hardware and \d+ were not run; claims.json says", html)
    assert "claims are about other experiments" not in html
    claims = html[html.index('id="run1-claims"') : html.index('id="run1-tables"')]
    assert "Not run:" not in claims


def test_templates_escape_values_and_refuse_undefined_ones() -> None:
    page = environment().from_string("{{ name }}")
    assert page.render(name="<b>") == "&lt;b&gt;"
    with pytest.raises(UndefinedError):
        page.render()
