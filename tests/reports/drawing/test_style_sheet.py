"""Style sheets of authors: what they may change, and what is refused."""

from pathlib import Path

import matplotlib
import pytest
from matplotlib import rcParams

from rogue.reports.drawing.marks import figure_look
from rogue.reports.drawing.style_sheet import ALLOWED, NO_SHEET, read_style_sheet
from rogue.reports.errors import ReportError


def sheet(directory: Path, text: str) -> Path:
    path = directory / "my.mplstyle"
    path.write_text(text)
    return path


def test_settings_stand_over_our_look(tmp_path: Path) -> None:
    read = read_style_sheet(sheet(tmp_path, 'lines.linewidth: 0.7  # thin\n\naxes.edgecolor: "#ff0000"\n'))
    with figure_look(), read.applied():
        assert (rcParams["lines.linewidth"], rcParams["axes.edgecolor"]) == (0.7, "#ff0000")
        assert rcParams["font.sans-serif"] == ["DejaVu Sans"]
    assert rcParams["lines.linewidth"] == matplotlib.rcParamsDefault["lines.linewidth"]


def test_a_new_size_takes_the_others_along(tmp_path: Path) -> None:
    read = read_style_sheet(sheet(tmp_path, "font.size: 18\nlegend.fontsize: 5"))
    with figure_look(), read.applied():
        assert rcParams["axes.labelsize"] == 18
        assert rcParams["xtick.labelsize"] == 17
        assert rcParams["legend.fontsize"] == 5


def test_no_sheet_changes_nothing() -> None:
    with figure_look():
        before = dict(rcParams)
        with NO_SHEET.applied():
            assert dict(rcParams) == before


def test_families_that_are_not_installed_are_passed_over(tmp_path: Path) -> None:
    read = read_style_sheet(sheet(tmp_path, "font.family: No Such Font, DejaVu Serif"))
    with figure_look(), read.applied():
        assert rcParams["font.family"] == ["DejaVu Serif"]
    generic = read_style_sheet(sheet(tmp_path, "font.family: serif\nfont.serif: Nope, DejaVu Serif"))
    assert generic.settings["font.family"] == ["DejaVu Serif"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("font.size 8", "my.mplstyle:1: got 'font.size 8', expected `key: value`"),
        ("font.size: 8\nfont.sise: 9", "my.mplstyle:2: got 'font.sise', expected a setting of matplotlib;"
         " did you mean font.size?"),
        ("font.size: big", "font.size: got 'big', expected another value"),
        ("axes.facecolor: nocolour", "axes.facecolor: got 'nocolour', expected another value"),
        ("figure.figsize: 3, 2", "got figure.figsize, expected settings of fonts, sizes, colours, lines,"
         " axes, ticks, grid or legend; the width is given by --width."),
        ("font.family: No Such Font", "got No Such Font, expected a font of this computer, such as"),
    ],
)  # fmt: skip
def test_mistakes_are_sentences(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ReportError) as caught:
        read_style_sheet(sheet(tmp_path, text))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "key",
    [
        "backend", "savefig.directory", "savefig.format", "svg.hashsalt", "svg.fonttype", "pdf.fonttype",
        "text.usetex", "text.latex.preamble", "text.parse_math", "axes.prop_cycle", "path.effects",
        "interactive",
        "axes.formatter.use_mathtext", "animation.ffmpeg_path", "pgf.preamble", "image.cmap", "toolbar",
        "agg.path.chunksize", "date.converter", "mathtext.fontset", "docstring.hardcopy", "pgf.texsystem",
    ],
)  # fmt: skip
def test_what_is_not_looks_is_refused_by_name(tmp_path: Path, key: str) -> None:
    with pytest.raises(ReportError, match=f"got {key}, expected settings of fonts"):
        read_style_sheet(sheet(tmp_path, f"{key}: __import__('os')"))


def test_values_are_read_and_never_run(tmp_path: Path) -> None:
    for key in sorted(ALLOWED):
        with pytest.raises(ReportError):
            read_style_sheet(sheet(tmp_path, f"{key}: __import__('pathlib').Path('ran').touch()(\n:"))
    assert [path.name for path in tmp_path.iterdir()] == ["my.mplstyle"]


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="got no such file, expected a matplotlib style sheet"):
        read_style_sheet(tmp_path / "none.mplstyle")
    with pytest.raises(ReportError, match="got a directory"):
        read_style_sheet(tmp_path)
    (tmp_path / "latin").write_bytes("é".encode("latin-1"))
    with pytest.raises(ReportError, match="not UTF-8"):
        read_style_sheet(tmp_path / "latin")
    (tmp_path / "long").write_text("#" * 200_000)
    with pytest.raises(ReportError, match="got more than"):
        read_style_sheet(tmp_path / "long")
