"""The pages of the papers say what the committed board says."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BOARD: list[dict[str, Any]] = json.loads((DOCS / "claims" / "claims.json").read_text())["claims"]
PAGES = {path.stem: path.read_text() for path in sorted((DOCS / "papers").glob("*.md"))}
WORDS = {
    "reproduced": r"(\d+) (?:is|are) reproduced",
    "agrees": r"(\d+) agrees?\b",
    "close": r"(\d+) (?:is|are) close",
    "undecided": r"(\d+) (?:is|are) undecided",
    "right sign": r"(\d+) have (?:only )?the right sign",
    "missed": r"(\d+) (?:is|are) missed",
    "needs hardware": r"(\d+) needs? hardware",
}


@pytest.mark.parametrize("paper", PAGES)
def test_its_first_sentence_counts_the_verdicts_of_the_board(paper: str) -> None:
    verdict = PAGES[paper].partition("## Verdict")[2].replace("\n", " ").strip()
    sentence = verdict.partition(". ")[0]
    said = {word: int(found[1]) for word, pattern in WORDS.items() if (found := re.search(pattern, sentence))}
    assert said == Counter(each["verdict"] for each in BOARD if each["paper"] == paper)
    assert sentence.startswith(f"Of {sum(said.values())} claims ")


@pytest.mark.parametrize("paper", PAGES)
def test_it_says_how_many_of_its_claims_are_in_the_headline(paper: str) -> None:
    found = re.search(r"In the board's headline are (\d+)", PAGES[paper].replace("\n", " "))
    assert found
    assert int(found[1]) == sum(each["paper"] == paper and each["is_headline"] for each in BOARD)


def test_the_mean_of_timely_has_one_verdict() -> None:
    """R-26-mean: its single values reach beyond the tolerance, so it is close, and not reproduced."""
    (row,) = [line for line in PAGES["rogue"].splitlines() if line.startswith("| 16b, TIMELY | goodput |")]
    (claim,) = [each for each in BOARD if each["id"] == "R-26-mean"]
    assert f"({claim['verdict']})" in row


def test_the_readme_names_the_figures_of_rogue_that_have_an_experiment() -> None:
    root = DOCS.parent
    titles = [
        line
        for file in (root / "experiments" / "rogue-paper").glob("*.yaml")
        for line in file.read_text().splitlines()
        if line.startswith("title:")
    ]
    numbers = re.compile(r"figures? (\d+)[abc]?(?: and (\d+))?")
    figures = {int(number) for found in numbers.findall(" ".join(titles)) for number in found if number}
    hardware = re.search(r"figures [\d, and]+\d", (root / "reports/claims/rogue_hardware.yaml").read_text())
    readme = " ".join((root / "README.md").read_text().split())
    assert figures == set(range(7, 17)) and "figures 7 to 16 and table 1 of RoGUE" in readme
    assert hardware and f"({hardware[0]} need real NICs" in readme
