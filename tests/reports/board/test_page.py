"""Tests: show the claims board as a page, as JSON and as lines for a terminal."""

import json
import re
from pathlib import Path

import pytest
from helpers.browser import steps_in
from helpers.html_page import Page
from helpers.small_runs import COMMIT, outcome, write_run

from rogue.reports.board import (
    BoardClaim,
    BoardRun,
    best_evidence,
    board_content,
    board_page,
    stored_outcomes,
)
from rogue.reports.board.page import HEAD, claim_lines, report_href
from rogue.reports.claims import read_claims
from rogue.reports.reading.files import read_manifest

RUN = BoardRun(
    directory=Path("a"),
    run_id="a",
    experiment="rogue-paper/figure-11-13",
    testbed="simulator",
    created_utc="2026-01-01T00:00:00Z",
    commit=COMMIT,
    clean=True,
    hardware=False,
)


@pytest.fixture
def board(tmp_path: Path) -> list[BoardClaim]:
    points = [outcome("R-21-rogue", factors={"workload.senders": str(n)}) for n in (2, 4)]
    run = write_run(tmp_path / "results/x/a", outcome(reasons="Said <so>."), *points)
    (run / "report.html").write_text("")
    outcomes = stored_outcomes(run)
    assert outcomes is not None
    return best_evidence(read_claims(), [(BoardRun.of(run, read_manifest(run)), outcomes)])


def test_every_claim_has_a_row_with_an_anchor(board: list[BoardClaim], tmp_path: Path) -> None:
    text = board_page(board, tmp_path / "results")
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert {f"claim-{claim.id}" for claim in read_claims()} | page.targets <= set(page.ids)
    assert "Said &lt;so&gt;." in text
    assert text.count("<strong>workload.senders ") == 2
    assert "1 run (20" in text


def test_each_number_has_its_tolerance_its_kind_and_its_badges(
    board: list[BoardClaim], tmp_path: Path
) -> None:
    text = board_page(board, tmp_path).replace("\u202f", " ")
    rows = {row.partition('"')[0]: row for row in text.split('<tr class="claim" id="claim-')[1:]}
    assert "99.2 %, tolerance 3.0 %" in rows["R-16-p50"]
    assert '<span class="badge published">published</span>' in rows["R-16-p50"]
    assert "vacuous-alone" not in rows["R-16-p50"]
    assert '<span class="badge vacuous-alone">vacuous alone</span>' in rows["R-21-rogue"]
    assert "<strong>Vacuous alone:</strong> When equal transfers start together" in rows["R-21-rogue"]
    assert "1 563 µs, tolerance 1 400 µs (89.6 %)" in rows["R-28-timely"]
    assert '<span class="badge derived">derived</span>' in rows["X-6-use"]
    assert "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019" in rows["X-6-use"]


def test_page_needs_nothing_from_outside(board: list[BoardClaim], tmp_path: Path) -> None:
    text = board_page(board, tmp_path)
    assert text.count("<script>") == 1
    page = Page(text)
    for _, attributes in page.elements:
        for key in ("src", "href"):
            assert not re.match(r"(https?:)?//", attributes.get(key) or "")
    levels = page.heading_levels
    assert levels[0] == 1 and set(levels[1:]) == {2}


def test_each_paper_with_measured_numbers_has_a_picture(tmp_path: Path) -> None:
    """R-16-p50 is held against 99.2 %, and R-28-timely, which is judged elsewhere, has no mark."""
    near = [outcome(measured=0.99), outcome("R-16-p10", measured=9.0, verdict="missed")]
    board = best_evidence(read_claims(), [(RUN, near)])
    text = board_page(board, tmp_path)
    assert text.count("<svg") == 1
    assert "2 numbers, 1 within 10 % of what was published; least 1, median 5.4, most 9.7 times." in text
    assert "Drawn at the edge: 1." in text
    row = text.split('id="claim-R-16-p10"')[1].split("</tr>")[0]
    assert '<td data-head="Ratio" class="number">9.72</td>' in row


@pytest.mark.needs("chromium")
def test_claims_are_searched_filtered_and_sorted_and_open_by_their_address(tmp_path: Path) -> None:
    judged = [
        outcome(measured=0.99),
        outcome("R-16-p10", measured=0.1, verdict="missed", verdict_text="missed"),
        outcome("R-20-p50", measured=64e3, measured_text="64 µs"),
    ]
    path = tmp_path / "board.html"
    path.write_text(board_page(best_evidence(read_claims(), [(RUN, judged)]), tmp_path))
    steps = """
      const shown = () => [...document.querySelectorAll("tr.claim")].filter(row => !row.hidden)
        .map(row => row.id.slice(6));
      const all = shown().length;
      const [search, only] = document.querySelectorAll(".ask input");
      only.click();
      const missed = shown();
      const verdict = document.querySelector('select[aria-label="verdict"]');
      const [chosen, hash] = [verdict.value, location.hash];
      verdict.value = ""; verdict.onchange();
      const badge = document.querySelector('select[aria-label="badge"]');
      badge.value = "fitted"; badge.onchange();
      search.value = "parking lot"; search.oninput();
      const fitted = shown();
      badge.value = ""; badge.onchange();
      search.value = ""; search.oninput();
      [...document.querySelectorAll("button.sort")].find(each => each.textContent === "Ratio").click();
      return {all, missed, chosen, hash, fitted, note: document.querySelector(".ask output").textContent,
        first: shown()[0], high: document.documentElement.scrollHeight};
    """
    found = steps_in(path, tmp_path, steps, "--window-size=1280,900")
    count = len(read_claims())
    assert (found["all"], found["note"]) == (count, f"{count} of {count} rows")
    assert (found["missed"], found["chosen"]) == (["R-16-p10"], "missed")
    assert found["hash"] == "#view:only-verdict=missed"
    assert isinstance(found["fitted"], list)
    assert "R-20-p50" in found["fitted"]
    assert "R-16-p50" not in found["fitted"]
    assert found["first"] == "R-16-p10"
    assert isinstance(found["high"], int)
    assert found["high"] < 3000
    opened = "return {open: [...document.querySelectorAll('tr details[open]')].map(e => e.closest('tr').id)};"
    kept = steps_in(path, tmp_path, opened, view="#claim-R-16-p50")
    assert kept["open"] == ["claim-R-16-p50"]


def test_runs_below_the_board_are_linked_and_others_named(board: list[BoardClaim], tmp_path: Path) -> None:
    judged = next(each for each in board if each.claim.id == "R-16-p50")
    assert report_href(judged, tmp_path / "results") == "x/a/report.html#run1-claim-R-16-p50"
    assert report_href(judged, tmp_path) == "results/x/a/report.html#run1-claim-R-16-p50"
    assert report_href(judged, tmp_path / "docs" / "claims") is None
    assert str(tmp_path) not in board_page(board, tmp_path / "docs" / "claims")


def test_data_name_no_place_of_this_machine(board: list[BoardClaim], tmp_path: Path) -> None:
    text = json.dumps(board_content(board))
    assert str(tmp_path) not in text
    content = json.loads(text)
    claim = next(each for each in content["claims"] if each["id"] == "R-16-p50")
    assert (claim["verdict"], claim["n"], claim["run"]["experiment"]) == (
        "reproduced",
        5,
        "rogue-paper/incast",
    )
    assert claim["outcomes"][0]["seeds"] == [1, 2, 3, 4, 5]
    assert (claim["kind"], claim["badges"], claim["tolerance"]) == ("published", {}, 0.03)
    assert (claim["run"]["seeds"], claim["run"]["commit"]) == ([1, 2, 3, 4, 5], COMMIT)
    tallies = (*content["headline"].values(), *content["badged"].values())
    assert sum(sum(counts.values()) for counts in tallies) == len(read_claims())


def test_each_judged_claim_says_badges_tolerance_seeds_commit_and_day() -> None:
    outcomes = [outcome("R-20-p50", measured_text="64 µs"), outcome("R-26-mean", verdict="not run", n=0)]
    head, *lines = claim_lines(best_evidence(read_claims(), [(RUN, outcomes)]))
    (line,) = (each for each in lines if not each[0].startswith("NIC-"))
    assert head == HEAD
    assert [
        "NIC-6",
        "needs hardware",
        "published, hardware, measured by others",
        "1.5 ms where the NAK asks for 0.12 ms",
        *("", "", ""),
    ] in lines
    assert [text.replace("\u202f", " ") for text in line] == [
        "R-20-p50",
        "reproduced",
        "published, fitted",
        "58.0 µs, tolerance 18.0 µs (31.0 %)",
        "64 µs",
        "1, 2, 3, 4 and 5",
        "1234567890ab, run on 2026-01-01",
    ]
