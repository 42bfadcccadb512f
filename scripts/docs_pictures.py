"""Make the sample report and the pictures of the documentation from new runs.

docs_pictures.py report    .cache/docs/sample-report.html, for the site
docs_pictures.py images    docs/images/*.png; needs Chromium
"""

import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from matplotlib.figure import Figure

ROOT: Final = Path(__file__).parents[1]
SAMPLE: Final = ROOT / ".cache/docs/sample-report.html"
IMAGES: Final = ROOT / "docs/images"
FIGURE: Final = "probe_latency"
TIMELINE_CELL: Final = "rogue-r1"


def main() -> None:
    """Write runs to a temporary directory, so that the report has no links into the checkout."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        if sys.argv[1:] == ["report"]:
            SAMPLE.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(run_quickstart(directory / "results") / "report.html", SAMPLE)
        elif sys.argv[1:] == ["images"]:
            images(directory)
        else:
            sys.exit(__doc__)


def images(directory: Path) -> None:
    """Write the screenshots and plots, not the drawn diagrams."""
    run = run_with_live_page(directory / "results", IMAGES / "live.png")
    screenshot(run / "report.html", IMAGES / "report.png", height=1100)
    figures = directory / "figures"
    rogue("figures", str(run), "--only", FIGURE, "--format", "png", "--width", "7in", "--out", str(figures))
    [figure] = figures.rglob("*.png")
    shutil.copy(figure, IMAGES / "quickstart.png")
    rogue("run", "inside", "--set", "scale=quick", "--out", str(directory))
    [inside] = (directory / "inside").iterdir()
    rogue("export", str(inside), "--timeline", "--out", str(directory / "timelines"))
    draw_timeline(directory / f"timelines/{TIMELINE_CELL}.json", IMAGES / "timeline.png")


def run_quickstart(results: Path) -> Path:
    """Run the quickstart and return the directory of the run."""
    rogue("run", "quickstart", "--out", str(results))
    [run] = (results / "quickstart").iterdir()
    return run


def run_with_live_page(results: Path, picture: Path) -> Path:
    """Run the quickstart, and take a picture of its live page when about half of the cells have finished."""
    words = [sys.executable, "-m", "rogue", "run", "quickstart", "--live", "--out", str(results)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        address = ""
        for line in running.stderr:
            address = address or next(iter(re.findall(r"http://127\S+", line)), "")
            if address and line.startswith("[5/"):
                screenshot(address, picture, height=480)
    [run] = (results / "quickstart").iterdir()
    return run


def draw_timeline(file: Path, picture: Path) -> None:
    """Draw the transfers, goodputs, queue and windows of a timeline on one axis, as Perfetto shows them."""
    events: list[dict[str, Any]] = json.loads(file.read_text())["traceEvents"]
    names = {each["tid"]: each["args"]["name"] for each in events if each.get("name") == "thread_name"}
    transfers = [each for each in events if each["ph"] == "X"]
    curves: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for each in events:
        if each["ph"] == "C":
            curves[each["name"]][0].append(each["ts"] / 1000)
            curves[each["name"]][1].append(each["args"]["value"])
    figure = Figure(figsize=(9, 6), layout="constrained")
    panels = figure.subplots(4, 1, sharex=True, height_ratios=[1, 2, 2, 2])
    for row, each in enumerate(transfers):
        panels[0].barh(row, each["dur"] / 1000, left=each["ts"] / 1000, height=0.7)
    panels[0].set_yticks(range(len(transfers)), [names[each["tid"]] for each in transfers], fontsize="small")
    for panel, unit, title in (
        (panels[1], " goodput (Gb/s)", "goodput (Gb/s)"),
        (panels[2], " (bytes)", "queue (bytes)"),
        (panels[3], " window (packets)", "window (packets)"),
    ):
        for name, (times_ms, values) in curves.items():
            if name.endswith(unit):
                panel.plot(times_ms, values, label=name.removesuffix(unit), linewidth=1)
        panel.set_ylabel(title)
        panel.legend(fontsize="x-small", loc="upper right", ncols=4)
    panels[3].set_xlabel("time (ms)")
    figure.savefig(picture, dpi=110)


def screenshot(page: Path | str, picture: Path, height: int) -> None:
    """Write a picture of a page as Chromium shows it."""
    browser = shutil.which("chromium") or sys.exit("docs_pictures.py: found no chromium; install it.")
    address = page if isinstance(page, str) else page.as_uri()
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size=1200,{height}"]
    subprocess.run([browser, *options, f"--screenshot={picture}", address], check=True, capture_output=True)


def rogue(*words: str) -> None:
    """Call the command."""
    subprocess.run([sys.executable, "-m", "rogue", *words], check=True)


if __name__ == "__main__":
    main()
