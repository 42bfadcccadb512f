"""Test that numbers which the quickstart's report repeats agree.

A short quickstart is run as a user runs it; then every table, claim and legend is held against the
tables' CSV files and claims.json, which have all digits.
"""

import base64
import csv
import io
import json
import math
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest
from helpers.paper_runs import run_experiment

from rogue.reports.claims import read_claims
from rogue.reports.claims.words import mean_text
from rogue.reports.metrics import METRICS
from rogue.reports.metrics.statistics import MeanInterval

SYMBOLS = {
    "Gb/s": 1e9,
    "Mb/s": 1e6,
    "s": 1e9,
    "ms": 1e6,
    "µs": 1e3,
    "ns": 1.0,
    "MB": 1e6,
    "KB": 1e3,
    "B": 1.0,
    "%": 0.01,
    "": 1.0,
}
QUANTITY = re.compile(r"^([\d.\u202f]+)\u202f?([A-Za-zµ/%]*)$")


@dataclass
class Element:
    """A node of the page; `text` is all of its text."""

    tag: str
    attributes: dict[str, str | None]
    children: list["Element"] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join([*self.words, *(child.text for child in self.children)]).strip()

    def all(self, tag: str, css_class: str = "") -> list["Element"]:
        own = [
            child
            for child in self.children
            if child.tag == tag and css_class in str(child.attributes.get("class"))
        ]
        return [*own, *(found for child in self.children for found in child.all(tag, css_class))]


class Page(HTMLParser):
    """Reads a page into elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = Element("page", {})
        self._open = [self.root]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self._open[-1].children.append(element)
        if tag not in {"meta", "link", "br", "hr", "img", "input"}:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while len(self._open) > 1 and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        self._open[-1].words.append(data)


@dataclass(frozen=True)
class Report:
    """The page of the quickstart, what its CSV files say, and its claims."""

    page: Element
    means: dict[str, dict[str, float | None]]
    """Metric by metric, of each transport."""
    claims: list[dict[str, object]]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    settings = ("workload.repeat_for=300ms", "repetitions=3")
    return report_of(tmp_path_factory.mktemp("quickstart"), "quickstart", *settings)


@pytest.fixture(scope="module")
def report_of_paper(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Return the report of a paper's own experiment, which has claims."""
    return report_of(tmp_path_factory.mktemp("figure-7"), "rogue-paper/figure-7", "scale=quick")


def report_of(out: Path, experiment: str, *settings: str) -> Report:
    run = run_experiment(experiment, out, *settings).directory
    page = Page((run / "report.html").read_text(encoding="utf-8")).root
    means: dict[str, dict[str, float | None]] = {}
    for link in page.all("a"):
        name, href = str(link.attributes.get("download")), str(link.attributes.get("href"))
        if href.startswith("data:text/csv;charset=utf-8;base64") and not name.endswith("-runs.csv"):
            for row in csv.DictReader(io.StringIO(base64.b64decode(href.partition(",")[2]).decode())):
                for column, value in row.items():
                    if (metric := column.removesuffix("_mean")) in METRICS and column != metric:
                        means.setdefault(metric, {})[row["transport"]] = float(value) if value else None
    return Report(page, means, json.loads((run / "claims.json").read_text())["outcomes"])


def is_rounded(text: str, value: float | None, symbol: str = "") -> bool:
    """Return True if a text is this value, in base units, rounded to the digits shown."""
    if text.startswith("none"):
        return value == math.inf
    match = QUANTITY.match(text)
    assert match and value is not None, text
    number, unit = match[1].replace("\u202f", ""), SYMBOLS[match[2] or symbol]
    digits = len(number.partition(".")[2])
    return abs(float(number) - value / unit) <= 0.51 * 10**-digits


def transports(report: Report) -> list[str]:
    return list(report.means["aggregate_bps"])


def test_the_short_run_loses_probes_beside_native_roce(report: Report) -> None:
    """Otherwise the tests below would not see what never came back."""
    assert report.means["probe_p50_ns"]["roce"] == math.inf


def test_answer_says_what_the_table_says(report: Report) -> None:
    said = [spaced(each.text) for each in report.page.all("p", "answer")]
    assert said[0].startswith("RoGUE has a median queue of ")
    value = re.search(r"of ([\d.]+) KB", said[0])
    assert value and is_rounded(value[1], report.means["queue_p50_bytes"]["rogue"], "KB")
    (table,) = report.page.all("div", "answer-table")
    assert len(table.all("tbody")[0].all("tr")) == len(transports(report)) == 3


def test_tables_round_what_their_files_have(report: Report) -> None:
    titles = {metric.title: name for name, metric in METRICS.items()}
    compared = 0
    for table in report.page.all("table"):
        heads = table.all("thead")[0].all("th") if table.all("thead") else []
        if not heads or not heads[0].text.startswith("Transport"):
            continue
        for row, transport in zip(table.all("tbody")[0].all("tr"), transports(report), strict=True):
            fields = [child for child in row.children if child.tag in {"th", "td"}]
            for head, value in zip(heads, fields, strict=True):
                unit = "".join(each.text for each in head.all("span", "unit"))
                metric = titles.get(head.text.removesuffix(unit))
                note = "".join(each.text for each in value.all("span", "note"))
                number = value.text.removesuffix(note).strip()
                if metric is None or number == "–" or metric not in report.means:
                    continue
                assert is_rounded(number, report.means[metric][transport], unit), (metric, transport)
                compared += 1
    assert compared > 60


def test_claims_say_what_the_json_says(report_of_paper: Report) -> None:
    report = report_of_paper
    claims = {claim.id: claim for claim in read_claims()}
    measured = [outcome for outcome in report.claims if outcome["measured"] is not None]
    by_claim: dict[str, list[dict[str, object]]] = {}
    for outcome in measured:
        by_claim.setdefault(str(outcome["id"]), []).append(outcome)
    assert by_claim
    for row in report.page.all("tr", "claim"):
        claim = claims[row.all("a", "claim-id")[0].text]
        (outcome,) = by_claim[claim.id]
        value = outcome["measured"]
        mean = MeanInterval(math.inf if value == "none" else float(str(value)), None, None, 1)
        cells = [child.text for child in row.children if child.tag == "td"]
        assert cells[1] == mean_text(claim, mean)
        assert cells[3] == str(outcome["n"])
        assert cells[4] == outcome["verdict_text"]


def test_legends_and_words_say_what_the_tables_say(report: Report) -> None:
    figure = next(each for each in report.page.all("figure") if "probe_latency" in str(each.attributes))
    legend = [spaced(element.text) for element in figure.all("text")]
    words = spaced(next(each for each in figure.all("details") if "in words" in each.text).text)
    for name, transport in zip(
        ("RoGUE", "Native RoCE without PFC", "DCTCP"), transports(report), strict=True
    ):
        (entry,) = (each for each in legend if each.startswith(f"{name} ("))
        what = entry.removeprefix(f"{name} (").removesuffix(")")
        if not what.endswith(" lost"):
            median = what.removeprefix("median ").replace(" ", "")
            assert is_rounded(median, report.means["probe_p50_ns"][transport])
        assert (f"{what}," if what.startswith("median") else f"median none ({what}),") in words


def spaced(text: str) -> str:
    """Write narrow spaces as wide ones."""
    return text.replace("\u202f", " ")
