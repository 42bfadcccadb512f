"""Tests: count claims by paper and verdict."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rogue.reports.board import BoardClaim, Counts, best_evidence, markdown, read_earlier, with_tally
from rogue.reports.board.tally import (
    BEGIN,
    END,
    badge_table,
    badged_sentence,
    experiments_of,
    headline_sentence,
    papers_of,
    runs_sentence,
    tally_table,
)
from rogue.reports.claims import read_claims
from rogue.reports.claims.conditions import EXPERIMENTS
from rogue.reports.claims.words import badges_of, is_headline
from rogue.reports.errors import ReportError

ROOT = Path(__file__).parents[3]
COUNTS = Counts(
    headline={"rogue": {"reproduced": 3, "missed": 1}, "irn": {"agrees": 2, "missed": 1}},
    badged={"rogue": {"reproduced": 2, "close": 1}},
    badges={"fitted": {"reproduced": 2}, "vacuous alone": {"reproduced": 1, "close": 1}},
)
PAPERS = {"rogue": "RoGUE, 2018", "irn": "IRN, 2018"}


def test_headline_adds_the_papers_up_and_counts_no_badge() -> None:
    assert headline_sentence(COUNTS) == (
        "7 claims published and without a badge: 3 reproduced, 2 agree and 2 missed."
    )


def test_sentence_about_badges() -> None:
    assert badged_sentence(COUNTS) == (
        "3 claims with badges (2 fitted and 2 vacuous alone): 2 reproduced and 1 close."
    )
    assert badged_sentence(Counts({}, {}, {})) == "No claim has a badge."


def test_table_has_the_verdicts_that_occur_and_a_sum() -> None:
    assert tally_table(COUNTS.headline, list(PAPERS)) == [
        ["paper", "claims", "reproduced", "agrees", "missed"],
        ["rogue", "4", "3", "0", "1"],
        ["irn", "3", "0", "2", "1"],
        ["all", "7", "3", "2", "2"],
    ]


def test_table_of_badges_has_no_sum() -> None:
    assert badge_table(COUNTS) == [
        ["badge", "claims", "reproduced", "close"],
        ["fitted", "2", "2", "0"],
        ["vacuous alone", "2", "1", "1"],
    ]


def test_headline_counts_claims_without_badges() -> None:
    claims = read_claims()
    counts = Counts.of(best_evidence(claims, []))
    number = {
        name: sum(sum(found.values()) for found in tally.values())
        for name, tally in (("headline", counts.headline), ("badged", counts.badged))
    }
    assert number == {
        "headline": sum(not badges_of(claim) for claim in claims),
        "badged": sum(bool(badges_of(claim)) for claim in claims),
    }
    assert sum(number.values()) == len(claims)


def test_readme_keeps_what_is_around_the_tally() -> None:
    text = f"# Title\n\n{BEGIN}\nold\n{END}\n\nMore.\n"
    written = with_tally(text, markdown(COUNTS))
    assert written == f"# Title\n\n{BEGIN}\n{headline_sentence(COUNTS)}\n{END}\n\nMore.\n"
    assert with_tally(written, markdown(COUNTS)) == written


@pytest.fixture(scope="module")
def committed() -> Mapping[str, Any]:
    """The board in the docs."""
    found: dict[str, Any] = json.loads((ROOT / "docs" / "claims" / "claims.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def board() -> list[BoardClaim]:
    """Return the board in the docs as a board that is built from it alone."""
    claims = read_claims()
    earlier = read_earlier(ROOT / "docs" / "claims" / "claims.json", claims)
    assert earlier.left_out == []
    return best_evidence(claims, earlier.judged)


def test_runs_and_their_days_are_counted(board: list[BoardClaim]) -> None:
    assert runs_sentence([]) == "No claim has a verdict yet."
    judged = [each for each in board if each.run]
    same = [each for each in judged if each.run == judged[0].run]
    days = sorted(each.run.created_utc[:10] for each in judged if each.run)
    assert runs_sentence(same[:1]).startswith("1 run (20") and " to " not in runs_sentence(same[:1])
    assert f"runs ({days[0]} to {days[-1]}) gave {len(judged)} verdicts." in runs_sentence(board)


def test_the_readme_has_the_headline_of_the_committed_board(board: list[BoardClaim]) -> None:
    assert markdown(Counts.of(board)) in (ROOT / "README.md").read_text(encoding="utf-8"), (
        "run `rogue claims docs/claims/claims.json --out docs/claims/index.html --readme README.md`"
    )


def test_the_committed_tally_is_the_sum_of_its_claims(committed: Mapping[str, Any]) -> None:
    for name, is_counted in (("headline", True), ("badged", False)):
        summed: dict[str, dict[str, int]] = {}
        for claim in committed["claims"]:
            if claim["is_headline"] is is_counted:
                found = summed.setdefault(claim["paper"], {})
                found[claim["verdict"]] = found.get(claim["verdict"], 0) + 1
        assert committed[name] == summed


def test_committed_board_has_current_kinds_and_badges(committed: Mapping[str, Any]) -> None:
    told = {each["id"]: (each["kind"], each["badges"], each["is_headline"]) for each in committed["claims"]}
    assert told == {
        claim.id: (
            claim.kind.value,
            {badge.value: reason for badge, reason in badges_of(claim).items()},
            is_headline(claim),
        )
        for claim in read_claims()
    }


def test_every_verdict_of_the_committed_board_names_commit_seeds_and_date(
    committed: Mapping[str, Any],
) -> None:
    runs = [each["run"] for each in committed["claims"] if each["run"]]
    assert runs
    assert all(run["commit"] and run["seeds"] and run["created_utc"] for run in runs)


def test_infinite_means_of_the_committed_board_are_explained(committed: Mapping[str, Any]) -> None:
    """I-4: a mean with what never came back is infinite, and reads `none`."""
    texts = [
        outcome["reasons"]
        for each in committed["claims"]
        for outcome in each["outcomes"]
        if outcome["measured_text"] == "none"
    ]
    assert len(texts) >= 3
    assert all("something never came back" in text for text in texts)


CLAIMS = read_claims()
SHIPPED = sorted(
    path.relative_to(EXPERIMENTS).with_suffix("").as_posix() for path in EXPERIMENTS.rglob("*.yaml")
)


def test_papers_have_titles_and_the_largest_comes_first() -> None:
    papers = papers_of(CLAIMS)
    assert set(papers) == {
        *("rogue", "irn", "rocc", "hpcc", "rdma-at-scale", "ecn-or-delay", "dctcp", "swift", "powertcp"),
        *("uet", "reps", "smartt", "measured-nics"),
    }
    assert next(iter(papers)) == "rogue"
    assert papers["hpcc"] == "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019"
    assert papers["irn"] == "Mittal et al., Revisiting network support for RDMA, SIGCOMM 2018"


@pytest.mark.parametrize(
    ("paper", "some", "other"),
    [
        ("rogue", {"rogue-paper/incast", "rogue-paper/recovery"}, {"quickstart", "controls/dcqcn-queue"}),
        ("irn", {"irn-paper/figure-7", "irn-paper/figures-1-6"}, {"rocc-paper/testbed"}),
        ("hpcc", {"rocc-paper/rivals"}, {"rocc-paper/testbed", "rocc-paper/testbed-offered"}),
        ("uet", {"uet-htsim", "uet-htsim-permutations", "uet-htsim-slow-link"}, {"quickstart", "spraying"}),
        ("dctcp", {"controls/dctcp-sawtooth"}, {"controls/dcqcn-queue"}),
        ("ecn-or-delay", {"controls/dcqcn-queue", "ecn-or-delay/timely-start"}, {"controls/dctcp-sawtooth"}),
    ],
)
def test_experiments_of_a_paper(paper: str, some: set[str], other: set[str]) -> None:
    found = experiments_of(paper, CLAIMS, SHIPPED)
    assert some <= set(found)
    assert not other & set(found)


def test_experiments_of_all_papers() -> None:
    found = experiments_of("all", CLAIMS, SHIPPED)
    assert set(found) == {
        name for paper in papers_of(CLAIMS) for name in experiments_of(paper, CLAIMS, SHIPPED)
    }
    assert set(SHIPPED) - set(found) == {
        name
        for name in SHIPPED
        if ("/" not in name and not name.startswith("uet-htsim"))
        or name.startswith(("own-traffic/", "referee/"))
        or "/why/" in name
    }, "these check no paper, or ask why a figure misses"
    assert len(found) == len(set(found))


def test_unknown_paper_is_an_error() -> None:
    with pytest.raises(ReportError, match="got 'vegas', expected one of rogue, "):
        experiments_of("vegas", CLAIMS, SHIPPED)
