"""The look of all figures."""

import subprocess
import sys
from pathlib import Path

from matplotlib import rc_context, rcParams

from rogue.reports.drawing.marks import figure_look


def test_what_the_report_does_not_set_is_as_matplotlib_comes() -> None:
    with rc_context({"text.usetex": True, "savefig.bbox": "tight"}):
        with figure_look():
            assert (rcParams["text.usetex"], rcParams["savefig.bbox"]) == (False, None)
        assert (rcParams["text.usetex"], rcParams["savefig.bbox"]) == (True, "tight")


DRAWN = """
import io
from matplotlib.figure import Figure
from rogue.reports.drawing.marks import figure_look
written = io.BytesIO()
with figure_look():
    figure = Figure()
    figure.subplots().plot([1, 2], label="$x$")
    figure.savefig(written, format="svg", metadata={"Date": None})
print(written.getvalue().decode())
"""


def test_a_matplotlibrc_in_the_working_directory_changes_no_figure(tmp_path: Path) -> None:
    drawn = []
    for settings in ("", "text.usetex: True\nlines.linewidth: 9\nsavefig.bbox: tight\nbackend: tkagg\n"):
        (tmp_path / "matplotlibrc").write_text(settings)
        command = [sys.executable, "-P", "-c", DRAWN]
        drawn.append(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert "</svg>" in drawn[0]
    assert drawn[0] == drawn[1]
