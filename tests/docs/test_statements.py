"""Tests: statements of docs pages that code can check."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from helpers.nodes import KINDS, judge, names, table
from helpers.pages import anchors

from rogue.harness.cli import app
from rogue.harness.experiment.load import load_experiment
from rogue.harness.provisioning.cards import CARDS
from rogue.harness.provisioning.switches.platform import PLATFORMS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARTIFACT.md").read_text()


def test_it_counts_the_claims_of_each_paper() -> None:
    claims, need_hardware = Counter[str](), Counter[str]()
    for file in sorted((ROOT / "reports/claims").glob("*.yaml")):
        data = yaml.safe_load(file.read_text())
        for claim in data["claims"]:
            paper = claim.get("paper", data["paper"])
            claims[paper] += 1
            need_hardware[paper] += claim["judged_by"] == "hardware"
    rows = re.findall(r"^\| (?:`([\w-]+)`|–) \| [^|]+ \| (\d+) \| (\d+|–) \|", TEXT, re.MULTILINE)
    named = {paper: (int(count), int(hardware.replace("–", "0"))) for paper, count, hardware in rows if paper}
    assert named == {paper: (claims[paper], need_hardware[paper]) for paper in named}
    assert sum(int(count) for _, count, _ in rows) == claims.total(), "every claim stands in a row"


def test_links_and_paths_lead_somewhere() -> None:
    named = re.findall(r"`((?:experiments|reports|requirements|docs)/[\w./-]+)`", TEXT)
    linked = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", TEXT)]
    assert [path for path in named + linked if not (ROOT / path).exists()] == []


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


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("*/README.md")])
"""Links of pages in `docs` are checked by the strict build of the site."""
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading_of_it(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


DOCS = Path(__file__).parents[2] / "docs"
BOARD: list[dict[str, Any]] = json.loads((DOCS / "claims" / "claims.json").read_text())["claims"]
PAPERS_PAGES = {
    path.stem: path.read_text() for path in sorted((DOCS / "papers").glob("*.md")) if path.stem != "index"
}
WORDS = {
    "reproduced": r"(\d+) (?:is|are) reproduced",
    "agrees": r"(\d+) agrees?\b",
    "close": r"(\d+) (?:is|are) close",
    "undecided": r"(\d+) (?:is|are) undecided",
    "right sign": r"(\d+) have (?:only )?the right sign",
    "missed": r"(\d+) (?:is|are) missed",
    "needs hardware": r"(\d+) needs? hardware",
    "not run": r"(\d+) (?:is|are) not run yet",
}


@pytest.mark.parametrize("paper", PAPERS_PAGES)
def test_its_first_sentence_counts_the_verdicts_of_the_board(paper: str) -> None:
    verdict = PAPERS_PAGES[paper].partition("## Verdict")[2].replace("\n", " ").strip()
    sentence = verdict.partition(". ")[0]
    said = {word: int(found[1]) for word, pattern in WORDS.items() if (found := re.search(pattern, sentence))}
    assert said == Counter(each["verdict"] for each in BOARD if each["paper"] == paper)
    assert sentence.startswith(f"Of {sum(said.values())} claims ")


@pytest.mark.parametrize("paper", PAPERS_PAGES)
def test_it_says_how_many_of_its_claims_are_in_the_headline(paper: str) -> None:
    found = re.search(r"(\d+) are in the headline", PAPERS_PAGES[paper].replace("\n", " "))
    assert found
    assert int(found[1]) == sum(each["paper"] == paper and each["is_headline"] for each in BOARD)


RACKS_TEXT = (ROOT / "docs/how-to/racks.md").read_text()
COMMANDS = re.findall(
    r"^ *(rogue .*)$", "\n".join(re.findall(r"```sh\n(.*?)```", RACKS_TEXT, re.DOTALL)), re.MULTILINE
)


def commanded(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and what is left of them."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        _, command, words = command.resolve_command(
            command.make_context("rogue", ["--help"], resilient_parsing=True), words
        )
    return command, words


@pytest.mark.parametrize("line", dict.fromkeys(COMMANDS))
def test_every_command_and_option_exists(line: str) -> None:
    command, words = commanded(line.partition(">")[0].split()[1:])
    known = {option for each in command.params for option in each.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_experiments_that_are_named_are_there() -> None:
    named = set(re.findall(r"rogue-paper/([\w-]+)", RACKS_TEXT))
    named |= set(re.findall(r"for each in ([\w -]+);", RACKS_TEXT)[0].split())
    assert named <= set(names())


def test_the_table_is_what_plans_say() -> None:
    said = RACKS_TEXT.split("<!-- what runs -->\n")[1].split("\n<!-- end of what runs -->")[0]
    assert said == table()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_node_runs_an_incast_with_the_settings_given(kind: str) -> None:
    assert judge("incast", kind).transports == ("rogue", "roce")
    assert KINDS[kind].hca_type in CARDS
    assert (
        f"| {kind} | {CARDS[KINDS[kind].hca_type].name}, {KINDS[kind].rate_bps // 10**9} Gb/s |" in RACKS_TEXT
    )


def test_settings_for_eight_servers_make_a_plan() -> None:
    line = next(line for line in COMMANDS if "topology.hosts=8" in line)
    settings = [word for word in line.split() if "=" in word]
    loaded = load_experiment(str(ROOT / "experiments/rogue-paper/incast.yaml"), settings)
    assert {len(point.experiment.topology.host_names()) for point in loaded.points} == {8}


def test_variables_of_roles_that_are_named_exist() -> None:
    options = "".join(
        path.read_text() for path in (ROOT / "playbooks/roles").glob("*/meta/argument_specs.yml")
    )
    for name in re.findall(r"`((?:card_priorities|dcqcn|tuning)_\w+)", RACKS_TEXT):
        assert f"      {name}:\n" in options, name


_NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_security_has_few_promises_and_words_and_each_promise_names_a_test() -> None:
    page = (ROOT / "SECURITY.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")][2:]
    assert 10 < len(rows) <= 15
    assert len(page.split()) <= 700
    for row in rows:
        named = _NAMED.search(row)
        assert named is not None, f"a promise without a test: {row}"
        assert f"def {named[2]}(" in (ROOT / named[1]).read_text(), f"no such test: {named[0]}"


SWITCHES_PAGE = (ROOT / "docs/how-to/hardware-switches.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The rows of the table that begins with these words of its first line."""
    _, found, rest = SWITCHES_PAGE.partition(f"{heading}\n")
    assert found, heading
    lines = rest.splitlines()[1:]
    end = next(number for number, line in enumerate(lines) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[:end]]


@pytest.mark.parametrize(
    "heading",
    [
        "| platform | commands | tried against | release | marking follows |",
        "| platform | by | thresholds | probability | headroom | changes count |",
    ],
)
def test_every_platform_has_a_line_that_says_what_it_was_checked_against(heading: str) -> None:
    found = [re.match(r"`(\w+)`", row[0]) for row in rows(heading)]
    assert sorted(name[1] for name in found if name) == sorted(PLATFORMS)
    assert all(cell for row in rows(heading) for cell in row)


def test_releases_of_sonic_are_those_whose_validators_were_tried() -> None:
    heading = "| branch, commit | a new profile of marks | values of a present one | a new buffer profile |"
    releases = [row[0].split(",")[0] for row in rows(heading)]
    assert releases == sorted(releases)
    assert {"202205", "202311", "202505", "202511"} <= set(releases)
