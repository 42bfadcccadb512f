"""Tests: write a run's figures as files: PDF, SVG, PNG, data and captions."""

import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote

import pandas as pd
import pytest
from helpers.needs import path_of
from helpers.painted import painted
from helpers.sample_kinds import write_cells
from helpers.small_runs import cell
from matplotlib.figure import Figure
from PIL import Image

from rogue.reports.errors import ReportError
from rogue.reports.export.figure_files import (
    FORMATS,
    LINE_MAX,
    FigureResult,
    FilesWanted,
    downloads,
    read_style_sheet,
    skipped_figures,
    write_figures,
)
from rogue.reports.figures import FIGURES
from rogue.reports.pages.page import figure_sections
from rogue.reports.reading.load import Run
from rogue.reports.results import Results
from rogue.reports.transport_styles import DARK_PARTNERS

WIDTH_INCHES = 3.3


def write(results: Results, directory: Path, wanted: FilesWanted) -> list[FigureResult]:
    done: list[FigureResult] = []
    write_figures(results, wanted, directory, done.append)
    return done


@pytest.fixture(scope="module")
def written(results: Results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[FigureResult]]:
    directory = tmp_path_factory.mktemp("files") / "figures"
    skipped = skipped_figures(results, list(FIGURES))
    names = tuple(name for name in FIGURES if name not in skipped)
    return directory, write(results, directory, FilesWanted(WIDTH_INCHES, names))


def test_one_panel_alone(sweep: Results, tmp_path: Path) -> None:
    wanted = FilesWanted(WIDTH_INCHES, ("probe_latency",), ("csv",), panel="senders 4")
    write(sweep, tmp_path / "one", wanted)
    assert set(pd.read_csv(tmp_path / "one" / "probe_latency.csv")["panel"]) == {"senders 4"}
    wrong = FilesWanted(WIDTH_INCHES, ("probe_latency",), ("csv",), panel="senders 5")
    expected = "got 'senders 5', expected one of senders 2; senders 4"
    with pytest.raises(ReportError, match=expected):
        write(sweep, tmp_path / "none", wrong)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_queue_map_fits_a_column(tmp_path: Path, count: int) -> None:
    transports = ("rogue", "roce", "roce+pfc", "irn", "irn+pfc", "iwarp", "dctcp", "cubic")[:count]
    rows = [
        {"node": "s0", "port": f"s0->h{port}", "t_ns": t, "bytes": 500 * port, "max_bytes": 900 * port}
        for port in range(1, 13)
        for t in range(1, 9)
    ]
    cells = [(cell(f"{name}-r1", transport=name), {"queues": rows}) for name in transports]
    results = Results(Run(write_cells(tmp_path / "run", cells, {"kind": "incast"})))
    (drawn,) = write(results, tmp_path / "out", FilesWanted(WIDTH_INCHES, ("queue_map",), ("svg",)))
    assert drawn.height_inches <= 4.0
    assert drawn.type_points >= 6.0


@pytest.fixture(scope="module")
def files(written: tuple[Path, list[FigureResult]]) -> Path:
    return written[0]


def test_every_figure_has_every_format_and_a_caption(files: Path) -> None:
    names = {path.stem for path in files.iterdir()}
    assert names
    assert {path.name for path in files.iterdir()} == {
        f"{name}.{kind}" for name in names for kind in (*FORMATS, "txt", "tex")
    }
    assert all(path.read_text().startswith("\\caption{") for path in files.glob("*.tex"))


def test_type_is_at_least_six_points_at_the_stated_width(written: tuple[Path, list[FigureResult]]) -> None:
    for result in written[1]:
        assert result.width_inches == pytest.approx(WIDTH_INCHES)
        assert result.type_points >= 6, result.name


def test_pdf_is_as_wide_as_stated_and_embeds_its_fonts(files: Path) -> None:
    for path in files.glob("*.pdf"):
        content = path.read_bytes()
        box = re.search(rb"/MediaBox \[ ([\d. ]+) \]", content)
        assert box is not None
        assert float(box[1].split()[2]) == pytest.approx(72 * WIDTH_INCHES)
        assert b"/Type3" not in content
        assert b"/FontFile2" in content
        assert b"CreationDate" not in content


def test_svg_is_read_by_another_program_and_needs_no_font_and_no_page(files: Path) -> None:
    for path in files.glob("*.svg"):
        text = path.read_text()
        root = ET.fromstring(text)
        assert "var(" not in text
        assert not list(root.iter("{http://www.w3.org/2000/svg}text")), "text is outlined"
        assert root.get("width") == f"{72 * WIDTH_INCHES:g}pt"
        assert any(colour in text for colour in DARK_PARTNERS)
        assert painted(text).getextrema()[0] < 128, "something is dark"


def test_png_has_300_dots_per_inch_on_white(files: Path) -> None:
    for path in files.glob("*.png"):
        with Image.open(path) as image:
            assert image.width == pytest.approx(300 * WIDTH_INCHES, abs=1)
            assert image.info["dpi"][0] == pytest.approx(300, abs=0.1)
            assert image.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_csv_is_small_and_complete(files: Path) -> None:
    for path in files.glob("*.csv"):
        frame = pd.read_csv(path)
        assert len(frame) > 0
        assert frame.columns.is_unique


def test_same_run_same_bytes(results: Results, files: Path, tmp_path: Path) -> None:
    write(results, tmp_path / "again", FilesWanted(WIDTH_INCHES, ("throughput",)))
    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (files / path.name).read_bytes(), path.name


def test_style_sheet_scales_all_type(results: Results, tmp_path: Path) -> None:
    """A new size takes the others along."""
    (tmp_path / "my.mplstyle").write_text("font.size: 12\nfont.family: DejaVu Serif\nlines.linewidth: 0.7\n")
    style = read_style_sheet(tmp_path / "my.mplstyle")
    (result,) = write(results, tmp_path / "out", FilesWanted(7.0, ("throughput",), ("pdf",), style))
    assert result.type_points == pytest.approx(12 * 8.5 / 9)
    assert b"DejaVuSerif" in (tmp_path / "out" / "throughput.pdf").read_bytes()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("font.size: big", "expected a matplotlib style sheet (.mplstyle): Key font.size"),
        ("figure.figsize: 3, 2", "got figure.figsize, expected settings of fonts"),
        ("text.usetex: True", "got text.usetex, expected settings of fonts"),
        ("axes.prop_cycle: cycler('color', ['r'])", "got axes.prop_cycle, expected"),
        ("backend: __import__('os')", "expected"),
    ],
)
def test_mistakes_in_a_style_sheet_are_sentences(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "my.mplstyle").write_text(text)
    with pytest.raises(ReportError, match=re.escape(words)):
        read_style_sheet(tmp_path / "my.mplstyle")
    with pytest.raises(ReportError, match="none"):
        read_style_sheet(tmp_path / "none.mplstyle")


def test_skipped_figure_has_a_reason(results: Results, tmp_path: Path) -> None:
    (result,) = write(results, tmp_path / "out", FilesWanted(WIDTH_INCHES, ("cpu_load",)))
    assert result.skipped == "No finished cell has rows in cpu.parquet and flows.parquet."
    assert list((tmp_path / "out").iterdir()) == []


def test_csv_of_a_figure_has_no_formula(
    tmp_path: Path, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"panel": ["=1+1"], "y": [-1.5]})
    monkeypatch.setattr(FIGURES["throughput"], "rows", lambda *_: frame)
    monkeypatch.setattr(FIGURES["throughput"], "draw", lambda *_: Figure())
    write(results, tmp_path / "out", FilesWanted(WIDTH_INCHES, ("throughput",), ("csv",)))
    assert (tmp_path / "out" / "throughput.csv").read_text() == "panel,y\n'=1+1,-1.5\n"


def test_interrupted_export_leaves_nothing(results: Results, tmp_path: Path) -> None:
    def stop(_: FigureResult) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_figures(results, FilesWanted(WIDTH_INCHES), tmp_path / "out", stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.needs("pdflatex")
def test_latex_accepts_the_figures(files: Path, tmp_path: Path) -> None:
    names = sorted(path.stem for path in files.glob("*.pdf"))
    floats = "\n".join(
        f"\\begin{{figure}}\\includegraphics{{{files}/{name}.pdf}}\\input{{{files}/{name}.tex}}\\end{{figure}}"
        "\\clearpage"
        for name in names
    )
    (tmp_path / "paper.tex").write_text(
        "\\documentclass[twocolumn]{article}\\usepackage{graphicx}\\setlength{\\textwidth}{7in}"
        "\\setlength{\\columnsep}{0.33in}\\setlength{\\oddsidemargin}{-0.25in}\\begin{document}\n"
        f"{floats}\n\\end{{document}}\n"
    )
    command = [path_of("pdflatex"), "-interaction=nonstopmode", "-halt-on-error"]
    command += ["-no-shell-escape", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert f"({len(names)} pages" in done.stdout
    assert "Overfull \\hbox" not in done.stdout, "a figure is no wider than a column"


def test_links_hold_the_files() -> None:
    data = pd.DataFrame({"panel": ["a, b", "=1"], "mark": "line", "y": [1.5, 2.0]})
    picture, table = downloads("run-figure", '<svg a="1">µ & #</svg>', data)
    assert (picture.file_name, table.file_name) == ("run-figure.svg", "run-figure.csv")
    assert unquote(picture.href.partition(",")[2]) == '<svg a="1">µ & #</svg>'
    assert unquote(table.href.partition(",")[2]) == 'panel,mark,y\n"a, b",line,1.5\n\'=1,line,2.0\n'
    assert not set("<>\"'&# \n") & set(picture.href + table.href)
    assert table.text == "what is drawn (CSV)"


def test_long_lines_are_thinned_and_the_link_says_so() -> None:
    data = pd.DataFrame({"series": "a", "x": range(1000)})
    _, table = downloads("f", "<svg/>", data)
    rows = unquote(table.href.partition(",")[2]).splitlines()[1:]
    assert table.text == f"what is drawn (CSV, {len(rows)} of 1000 points)"
    assert len(rows) <= LINE_MAX + 1
    assert (rows[0], rows[-1]) == ("a,0", "a,999")


def test_figures_of_the_page_have_small_downloads(results: Results) -> None:
    """The page was as large when it held one picture as matplotlib writes it."""
    drawn = [section for section in figure_sections("run1", results) if not section.skipped]
    assert drawn
    for section in drawn:
        picture, table = section.downloads
        svg = unquote(picture.href.partition(",")[2])
        assert "var(" not in svg
        assert section.title in svg
        assert painted(svg).getextrema()[0] < 128, "something is dark"
        assert unquote(table.href.partition(",")[2]).count("\n") > 1
        assert len(picture.href) < 1.5 * len(str(section.picture))
