"""Write a run's figures as files: PDF, SVG, PNG, data and captions."""

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import pandas as pd
from matplotlib import rc_context, rc_params_from_file, rcParams
from matplotlib.figure import Figure
from matplotlib.text import Text

from rogue.reports.drawing.panels import TYPE_SIZES, figure_look, page_width
from rogue.reports.drawing.svg import standalone_svg
from rogue.reports.errors import ReportError
from rogue.reports.export.csv_files import csv_text, new_directory
from rogue.reports.figures import FIGURES
from rogue.reports.figures.figure import ReportFigure
from rogue.reports.latex import latex_text
from rogue.reports.quantities import seeds_text
from rogue.reports.results import Results

# Rows of a figure's data on the page; `rogue figures` writes all of them.
ROWS_MAX: Final = 600
LINE_MAX: Final = 80
# Characters that need no escape in a `data:` link and in HTML; base64 would take more bytes.
_SAFE: Final = "/:=,;()+-._~!*"


@dataclass(frozen=True, slots=True)
class Download:
    """One link: its text, the name of the file, and the file."""

    text: str
    file_name: str
    href: str


def thinned(frame: pd.DataFrame, rows_max: int, line_max: int) -> pd.DataFrame:
    """Return every k-th row of each line, with its first and its last: about `rows_max` rows in all."""
    keys = [name for name in ("panel", "series", "mark", "line", "port") if name in frame]
    groups = list(frame.groupby(keys, sort=False, dropna=False).indices.values())
    step = max(-(-len(frame) // rows_max), -(-max(map(len, groups), default=0) // line_max))
    kept = [rows for group in groups for rows in (group[::step], group[-1:])] if step > 1 else groups
    return frame.iloc[np.unique(np.concatenate(kept))]


def short(data: pd.DataFrame) -> pd.DataFrame:
    """Round data to six significant digits; whole numbers keep all of theirs."""
    numbers = data.select_dtypes("float")
    rounded = numbers.map(lambda value: value if value.is_integer() else float(f"{value:.6g}"))
    return data.assign(**{str(name): rounded[name] for name in rounded})


def downloads(name: str, picture: str, data: pd.DataFrame) -> tuple[Download, ...]:
    """Return the links of one figure: the picture, and its data if there are any."""
    svg = Download(
        "picture (SVG)", f"{name}.svg", f"data:image/svg+xml;charset=utf-8,{quote(picture, _SAFE)}"
    )
    if data.empty:
        return (svg,)
    fewer = thinned(data, ROWS_MAX, LINE_MAX)
    part = "" if len(fewer) == len(data) else f", {len(fewer)} of {len(data)} points"
    return (
        svg,
        Download(
            f"what is drawn (CSV{part})",
            f"{name}.csv",
            f"data:text/csv;charset=utf-8,{quote(csv_text(short(fewer)), _SAFE)}",
        ),
    )


_STYLED: Final = (
    "font.", "text.color", "lines.", "axes.", "grid.", "legend.", "xtick.", "ytick.", "patch.", "errorbar.",
    "hatch.", "figure.facecolor", "figure.edgecolor",
)  # fmt: skip
# Colours of transports are the report's; formatters would change the text of labels.
_NOT_STYLED: Final = ("axes.prop_cycle", "axes.formatter.", "axes.unicode_minus", "axes3d.")

FORMATS: Final = ("pdf", "svg", "png", "csv")
PNG_DOTS_PER_INCH: Final = 300
# Type 42 is TrueType: its text can be searched, and publishers accept it, unlike type 3.
_EMBEDDED: Final[Any] = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "path"}
# No file has its time of creation: the same run gives the same bytes.
_PDF_METADATA: Final = {"Creator": "RoGUE testbed", "Producer": None, "CreationDate": None}


@dataclass(frozen=True, slots=True)
class FilesWanted:
    """The requested figures, formats, width and style."""

    width_inches: float
    names: tuple[str, ...] = tuple(FIGURES)
    formats: tuple[str, ...] = FORMATS
    style: Mapping[str, object] = field(default_factory=dict)
    """Settings of matplotlib over the report's look; see `read_style_sheet`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Files beside the figures, by name."""
    panel: str = ""
    """The only panel that is drawn; empty for all."""


@dataclass(frozen=True, slots=True)
class FigureResult:
    """The result of one figure: its size and smallest type, or why it is not drawn."""

    name: str
    width_inches: float = 0.0
    height_inches: float = 0.0
    type_points: float = 0.0
    skipped: str | None = None


def read_style_sheet(path: Path) -> dict[str, object]:
    """Read a matplotlib style sheet; ReportError for settings of other things than fonts, lines and axes.

    Those name programs and files, or override `--width`.
    """
    try:
        read: Any = rc_params_from_file(path, fail_on_error=True, use_default_template=False)
    except (OSError, ValueError, SyntaxError, UnicodeDecodeError) as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise ReportError(
            f"--style: {path}: expected a matplotlib style sheet (.mplstyle): {why}."
        ) from error
    settings: dict[str, object] = dict(read)
    for key in settings:
        if not key.startswith(_STYLED) or key.startswith(_NOT_STYLED):
            raise ReportError(
                f"--style: {path}: got {key}, expected settings of fonts, sizes, colours, lines, axes, ticks,"
                " grid or legend; leave the line out."
            )
    return settings


@contextmanager
def styled(settings: Mapping[str, Any]) -> Iterator[None]:
    """Put a style sheet over the current look; a new `font.size` scales the other sizes."""
    current: Any = rcParams
    factor = float(settings.get("font.size", current["font.size"])) / float(current["font.size"])
    sizes: Any = {key: current[key] * factor for key in TYPE_SIZES if not isinstance(current[key], str)}
    with rc_context(sizes | dict(settings)):
        yield


def skipped_figures(results: Results, names: Sequence[str]) -> dict[str, str]:
    """Return the reason of each of these figures that the run cannot draw."""
    reasons = {name: FIGURES[name]().skipped_because(results) for name in names}
    return {name: reason for name, reason in reasons.items() if reason}


def write_figures(
    results: Results, wanted: FilesWanted, directory: Path, on_done: Callable[[FigureResult], None]
) -> list[str]:
    """Write the files into a new directory, all or none; return their names. Calls `on_done` per figure."""
    with new_directory(directory) as partial:
        for name in wanted.names:
            on_done(_write_figure(results, wanted, name, partial))
        for name, text in wanted.texts.items():
            (partial / name).write_text(text, encoding="utf-8")
    return sorted(path.name for path in directory.iterdir())


def _write_figure(results: Results, wanted: FilesWanted, name: str, directory: Path) -> FigureResult:
    figure = FIGURES[name]()
    figure.panel = wanted.panel
    skipped = figure.skipped_because(results)
    if skipped:
        return FigureResult(name, skipped=skipped)
    with ExitStack() as look:
        look.enter_context(figure_look())
        look.enter_context(page_width(wanted.width_inches))
        look.enter_context(styled(wanted.style))
        look.enter_context(rc_context(_EMBEDDED))
        drawn = figure.draw(results)
        width_inches, height_inches = map(float, drawn.get_size_inches())
        result = FigureResult(name, width_inches, height_inches, smallest_type_points(drawn))
        for kind in wanted.formats:
            content = _content(kind, drawn, figure, results)
            (directory / f"{name}.{kind}").write_bytes(content)
        caption = caption_of(figure, results)
    (directory / f"{name}.txt").write_text(f"{caption}\n", encoding="utf-8")
    (directory / f"{name}.tex").write_text(f"\\caption{{{latex_text(caption)}}}\n", encoding="utf-8")
    return result


def _content(kind: str, drawn: Figure, figure: ReportFigure, results: Results) -> bytes:
    """Return one file's bytes; must be called inside the look of the figure."""
    if kind == "csv":
        return csv_text(short(figure.data(results))).encode()
    if kind == "svg":
        return standalone_svg(drawn, figure.title, figure.describe(results)).encode()
    buffer = io.BytesIO()
    if kind == "pdf":
        drawn.savefig(buffer, format="pdf", metadata=_PDF_METADATA)
    else:
        paper = rcParams["figure.facecolor"]
        drawn.savefig(
            buffer,
            format="png",
            dpi=PNG_DOTS_PER_INCH,
            metadata={"Software": None},
            facecolor="white" if paper == "none" else paper,
        )
    return buffer.getvalue()


def smallest_type_points(figure: Figure) -> float:
    """Return the size of the smallest text that is visible in a drawn figure."""
    figure.draw_without_rendering()
    texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text().strip()]
    sizes = [float(text.get_fontsize()) for text in texts if text.get_visible()]
    return min(sizes, default=math.inf)


COMMIT_CHARACTERS: Final = 12


def caption_of(figure: ReportFigure, results: Results) -> str:
    """Return the caption of a figure: content, conditions, number of runs, seeds, commit and run."""
    shows = figure.caption + figure.omission(results)
    sentences = [f"{figure.title}.", shows, _conditions(results), _runs(results, figure), _origin(results)]
    return " ".join(" ".join(sentences).split())


def _conditions(results: Results) -> str:
    manifest = results.run.manifest
    topology = manifest.experiment.get("topology")
    kind = topology.get("kind") if isinstance(topology, dict) else None
    network = f", network {kind}" if kind else ""
    changed = f"; changed: {', '.join(manifest.source.set)}" if manifest.source.set else ""
    what = f"{manifest.title.rstrip('.')} ({manifest.name}{network})"
    return f"Experiment: {what}, testbed {manifest.testbed}{changed}."


def _runs(results: Results, figure: ReportFigure) -> str:
    views = [results.views_of(setting) for setting in figure.shown(results)]
    counts = sorted({len(each) for each in views})
    runs = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    seeds = seeds_text(view.entry.seed for each in views for view in each)
    return f"Runs per setting: {runs}; {seeds}."


def _origin(results: Results) -> str:
    manifest = results.run.manifest
    commit = (manifest.git.commit or "not recorded")[:COMMIT_CHARACTERS]
    dirty = " with uncommitted changes" if manifest.git.dirty else ""
    return f"Commit {commit}{dirty}, run {manifest.run_id}."
