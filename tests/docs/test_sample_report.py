"""The sample report: one file, complete by itself, and the README's figure is of the same run."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs/sample-report.html").read_text(encoding="utf-8")
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_every_link_is_within_the_page() -> None:
    anchors = set(re.findall(r'\bid="([^"]+)"', PAGE))
    links = [link for link in re.findall(r'\bhref="([^"]+)"', PAGE) if not link.startswith("data:")]
    assert links
    assert not [link for link in links if link.removeprefix("#") not in anchors]


def test_the_numbers_under_the_readmes_figure_are_the_reports() -> None:
    [caption] = re.findall(r"!\[([^\]]+)\]\(docs/images/quickstart.png\)", README)
    medians = re.findall(r"(RoGUE|DCTCP) ([\d.]+) µs", caption)
    [lost] = re.findall(r"([\d.]+) % never come back", " ".join(caption.split()))
    assert {name for name, _ in medians} == {"RoGUE", "DCTCP"}
    for number in (*(f"{median} µs" for _, median in medians), f"{lost} %"):
        assert number in PAGE.replace("\N{NO-BREAK SPACE}", " "), f"{number} is not in the sample report"
