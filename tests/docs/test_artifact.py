"""ARTIFACT.md counts the claims as they are, and names files that are there."""

import re
from collections import Counter
from pathlib import Path

import yaml

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
