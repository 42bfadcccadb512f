"""The report in a real browser: it renders offline, in light and in dark, and every word can be read."""

import re
from pathlib import Path

import pytest
from helpers.browser import DARK, LOGGED, browse, complaints, measured, steps_in, with_probe

from rogue.reports.figures import FIGURES

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def probe(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_probe(report, tmp_path_factory.mktemp("probe") / "probe.html")


LEAK = '<img src="https://example.invalid/pixel.png" alt="">'
FAINT = '<p style="color:#bbbbbb;background:#ffffff">faint</p>'


def test_renders_with_its_policy_and_without_complaint(report: Path, tmp_path: Path) -> None:
    done = browse(report, tmp_path, *LOGGED)
    assert re.search(r"<h1>\s*8-to-1 incast at 10 Gb/s\s*</h1>", done.stdout)
    assert 0 < done.stdout.count("<svg") < len(FIGURES)
    assert complaints(done) == []


@pytest.mark.parametrize(("options", "dark"), [(("--window-size=1200,900",), False), ((DARK,), True)])
def test_every_text_can_be_read(probe: Path, tmp_path: Path, options: tuple[str, ...], dark: bool) -> None:
    """Contrast of at least 4.5:1 for all text, figures included. Source: WCAG 2.2, criterion 1.4.3."""
    found = measured(probe, tmp_path, *options)
    worst, paper, count = found["worst"], found["paper"], found["count"]
    assert isinstance(worst, list)
    assert isinstance(paper, list)
    assert isinstance(count, int)
    assert (sum(paper) < 150) == dark
    assert count > 300
    assert worst[0][0] >= 4.5, worst
    assert found["loaded"] == []


def test_links_lead_somewhere_and_downloads_can_be_read(probe: Path, tmp_path: Path) -> None:
    found = measured(probe, tmp_path)
    assert found["dangling"] == []
    assert found["twice"] == []
    assert isinstance(found["anchors"], int)
    assert found["anchors"] > 7
    downloads = found["downloads"]
    assert isinstance(downloads, list)
    assert len(downloads) > 3
    assert all(size > 0 for _, size in downloads)


def test_narrow_page_does_not_scroll_sideways(probe: Path, tmp_path: Path) -> None:
    assert measured(probe, tmp_path, "--window-size=400,900")["wide"] == 0


def test_a_leak_and_a_faint_word_would_be_noticed(report: Path, tmp_path: Path) -> None:
    """The checks above can fail: they see a picture from outside and text that is hard to read."""
    leaking = tmp_path / "leak.html"
    leaking.write_text(report.read_text().replace("</main>", LEAK + "</main>"))
    assert any("example.invalid" in line for line in complaints(browse(leaking, tmp_path, *LOGGED)))
    found = measured(with_probe(report, tmp_path / "probe.html", LEAK + FAINT), tmp_path)
    assert found["loaded"] == ["https://example.invalid/pixel.png"]
    worst = found["worst"]
    assert isinstance(worst, list)
    assert worst[0] == [1.92, "faint"]


def test_prints(report: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    browse(report, tmp_path, f"--print-to-pdf={path}")
    assert path.read_bytes().startswith(b"%PDF")
    assert path.stat().st_size > 50_000


def test_a_narrow_page_shows_every_verdict(report: Path, tmp_path: Path) -> None:
    steps = """
      const room = document.documentElement.clientWidth;
      const boxes = [...document.querySelectorAll(".claims td.verdict")].map(
        cell => cell.getBoundingClientRect());
      const seen = boxes.filter(box => box.width > 0 && box.left >= 0 && box.right <= room);
      return {all: boxes.length, seen: seen.length};
    """
    found = steps_in(report, tmp_path, steps, "--window-size=400,900")
    assert found["seen"] == found["all"] != 0
