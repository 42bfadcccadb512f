"""Tests: the report in a browser."""

import re
from pathlib import Path

import pytest
from helpers.browser import DARK, LOGGED, browse, complaints, measured, steps_in, with_probe

from rogue.reports.figures import FIGURES
from rogue.reports.templates.environment import script, script_source

pytestmark = pytest.mark.needs("chromium")

SHOWN = """
  const isShown = e => e.checkVisibility({visibilityProperty: true});
  const cards = () => [...document.querySelectorAll(".answer-table tbody th")].filter(isShown)
    .map(e => e.textContent);
  const names = () => [...document.querySelectorAll(".data-table tbody th")].filter(isShown)
    .map(e => e.textContent);
  const coloured = () => [...document.querySelectorAll('.plot svg [style*="--c-0072b2"]')];
  const lines = () => coloured().filter(isShown).length;
  const button = text => [...document.querySelectorAll("button")].find(e => e.textContent === text);
"""


def test_the_policy_lets_just_this_script_run(report: Path, tmp_path: Path) -> None:
    assert f"script-src {script_source()};" in report.read_text()
    done = browse(report, tmp_path, *LOGGED)
    assert complaints(done) == []
    assert 'class="enlarge"' in done.stdout
    other = tmp_path / "other.html"
    other.write_text(report.read_text().replace('"use strict";', '"use strict"; ', 1))
    changed = browse(other, tmp_path, *LOGGED)
    assert 'class="enlarge"' not in changed.stdout
    assert any("Content Security Policy" in line for line in complaints(changed))


def test_without_the_script_the_page_is_complete(report: Path, tmp_path: Path) -> None:
    """Without the script the page has no buttons: the script makes them."""
    plain = report.read_text().replace(f"<script>{script()}</script>", "")
    assert "<script" not in plain
    assert "<button" not in plain
    assert "<input" not in plain


def test_a_hidden_transport_is_nowhere_and_the_address_keeps_it(report: Path, tmp_path: Path) -> None:
    steps = f"""{SHOWN}
      const before = [cards(), lines() > 0];
      button("RoGUE").click();
      const hidden = [cards(), lines(), names().some(each => each.startsWith("RoGUE")), location.hash];
      button("RoGUE").click();
      return {{before, hidden, after: [cards(), lines() > 0, location.hash]}};
    """
    found = steps_in(report, tmp_path, steps)
    both = ["RoGUE", "Native RoCE without PFC"]
    assert found["before"] == [both, True]
    assert found["hidden"] == [["Native RoCE without PFC"], 0, False, "#view:hide=RoGUE"]
    assert found["after"] == [both, True, ""]
    kept = steps_in(report, tmp_path, f"{SHOWN} return {{cards: cards()}};", view="#view:hide=RoGUE")
    assert kept["cards"] == ["Native RoCE without PFC"]


def test_pointer_shows_the_nearest_value(report: Path, tmp_path: Path) -> None:
    """Under the pointer, the script shows the value of the CSV file."""
    steps = """
      const plot = document.getElementById("run1-throughput-head").closest("figure").querySelector(".plot");
      const {axes, x, y} = JSON.parse(plot.dataset.axes);
      const box = plot.querySelector("svg").getBoundingClientRect();
      const [left, top, width, height] = axes[0].box;
      const move = (across, up) => plot.onpointermove({
        clientX: box.left + box.width * (left + width * across),
        clientY: box.top + box.height * (top + height * (1 - up))});
      const note = plot.querySelector(".value");
      const part = (span, value) => (value - span.low) / (span.high - span.low);
      move(part(axes[0].x, 1.5), part(axes[0].y, 1.1));
      const told = [note.hidden, note.textContent];
      move(0.5, 3);
      return {told, away: note.hidden, x, y};
    """
    found = steps_in(report, tmp_path, steps, "--window-size=1280,900")
    assert (found["x"], found["y"]) == ("time_s", "goodput_gbps")
    assert isinstance(found["told"], list)
    hidden, text = found["told"]
    assert not hidden
    assert "time_s 1" in text
    assert "\ngoodput_gbps 1." in text
    assert found["away"] is True


def test_row_with_an_empty_first_field(report: Path, tmp_path: Path) -> None:
    """A row of a figure's CSV that begins with an empty field: nothing moves to the left."""
    steps = """
      const figure = document.getElementById("run1-throughput-head").closest("figure");
      const link = figure.querySelector('a[href^="data:text/csv"]');
      const {x, y} = JSON.parse(figure.querySelector(".plot").dataset.axes);
      const panel = JSON.parse(figure.querySelector(".plot").dataset.axes).axes[0].panel;
      link.href = "data:text/csv," + encodeURIComponent(`series,panel,${x},${y}\\n,${panel},1.5,1.1\\n`);
      const plot = figure.querySelector(".plot");
      const {axes} = JSON.parse(plot.dataset.axes);
      const box = plot.querySelector("svg").getBoundingClientRect();
      const [left, top, width, height] = axes[0].box;
      const part = (span, value) => (value - span.low) / (span.high - span.low);
      plot.onpointermove({
        clientX: box.left + box.width * (left + width * part(axes[0].x, 1.5)),
        clientY: box.top + box.height * (top + height * (1 - part(axes[0].y, 1.1)))});
      return {told: plot.querySelector(".value").textContent};
    """
    assert steps_in(report, tmp_path, steps)["told"] == "time_s 1.5\ngoodput_gbps 1.1"


def test_one_figure_fills_the_window_until_escape(report: Path, tmp_path: Path) -> None:
    steps = """
      const box = () => document.querySelector("figure.enlarged")?.getBoundingClientRect();
      const opened = [box().width, box().height, location.hash];
      document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
      return {opened, closed: !box(), hash: location.hash};
    """
    view = "#view:zoom=run1-throughput-head"
    found = steps_in(report, tmp_path, steps, "--window-size=1200,800", view=view)
    assert isinstance(found["opened"], list)
    assert found["opened"][0] == 1200
    assert found["opened"][1] > 600
    assert found["opened"][2] == view
    assert (found["closed"], found["hash"]) == (True, "")


def test_tables_are_sorted_by_number_and_filtered(report: Path, tmp_path: Path) -> None:
    """The table of cells: by its seeds downwards, and only RoGUE's."""
    steps = """
      const table = [...document.querySelectorAll(".data-table table")].at(-1);
      document.querySelectorAll("details").forEach(each => { each.open = true; });
      const rows = () => [...table.tBodies[0].rows].filter(row => !row.hidden);
      const column = place => rows().map(row => Number(row.cells[place].firstChild?.textContent));
      const place = [...table.tHead.rows[0].cells].findIndex((head, at) => column(at).some(v => v > 1e-9)
        && new Set(column(at)).size > 2);
      const head = table.tHead.rows[0].cells[place];
      head.querySelector("button").click();
      const up = column(place);
      head.querySelector("button").click();
      const down = column(place);
      const hash = location.hash;
      const input = table.closest(".data-table").previousElementSibling.querySelector("input");
      input.value = "rogue";
      input.oninput();
      return {up, down, order: head.ariaSort, hash, left: rows().map(row => row.textContent.toLowerCase()),
        kept: location.hash.includes("find=")};
    """
    found = steps_in(report, tmp_path, steps)
    up, down, left = found["up"], found["down"], found["left"]
    assert isinstance(up, list)
    assert isinstance(down, list)
    assert isinstance(left, list)
    known = [value for value in up if value is not None]
    assert known == sorted(known)
    assert [value for value in down if value is not None] == known[::-1]
    assert found["order"] == "descending"
    assert "sort=" in str(found["hash"])
    assert left
    assert all("rogue" in text for text in left)
    assert found["kept"] is True


def test_invalid_view_in_the_address_is_ignored(report: Path, tmp_path: Path) -> None:
    view = "#view:hide=nobody&zoom=nothing&sort=99:1&sort=0:99&sort=x&find=1:%3Cb%3E"
    done = browse(f"{report.as_uri()}{view}", tmp_path, *LOGGED)
    assert complaints(done) == []
    assert 'class="enlarge"' in done.stdout


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
