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

ROOT: Final = Path(__file__).parents[1]
SAMPLE: Final = ROOT / ".cache/docs/sample-report.html"
IMAGES: Final = ROOT / "docs/images"
FIGURE: Final = "probe_latency"
TIMELINE_CELL: Final = "rogue-r1"
TIMELINE_US: Final = 600
"""End of the time that the picture of a timeline shows."""


def main() -> None:
    """Run outside the checkout, where a report links to nothing that a downloaded page lacks."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        if sys.argv[1:] == ["report"]:
            SAMPLE.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(run_quickstart(directory) / "report.html", SAMPLE)
        elif sys.argv[1:] == ["images"]:
            images(directory)
        else:
            sys.exit(__doc__)


def images(directory: Path) -> None:
    """Write every picture that is no drawing."""
    run = run_quickstart(directory)
    screenshot(run / "report.html", IMAGES / "report.png", height=1100)
    figures = directory / "figures"
    rogue("figures", str(run), "--only", FIGURE, "--format", "png", "--width", "7in", "--out", str(figures))
    [figure] = figures.rglob("*.png")
    shutil.copy(figure, IMAGES / "quickstart.png")
    live_page(directory)
    rogue("run", "inside", "--set", "scale=quick", "--out", str(directory))
    [inside] = (directory / "inside").iterdir()
    rogue("export", str(inside), "--timeline", "--out", str(directory / "timelines"))
    draw_timeline(directory / f"timelines/{TIMELINE_CELL}.json", IMAGES / "timeline.png")


def run_quickstart(directory: Path) -> Path:
    """Run the quickstart and return the directory of the run."""
    rogue("run", "quickstart", "--out", str(directory / "results"))
    [run] = (directory / "results/quickstart").iterdir()
    return run


def live_page(directory: Path) -> None:
    """Take a picture of the page of a run when about half of its cells have finished."""
    words = ["run", "quickstart", "--live", "--jobs", "1", "--out", str(directory / "live")]
    with subprocess.Popen(
        [sys.executable, "-m", "rogue", *words], stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        address = ""
        for line in running.stderr:
            address = address or next(iter(re.findall(r"http://127\S+", line)), "")
            if address and re.search(r"\b[4-6]/9\b", line):
                screenshot(address, IMAGES / "live.png", height=800)
                break
        running.terminate()
        running.stderr.read()


def draw_timeline(file: Path, picture: Path) -> None:
    """Draw the transfers, rates and queues of a timeline, as Perfetto shows them."""

    events: list[dict[str, Any]] = json.loads(file.read_text())["traceEvents"]
    slices = [each for each in events if each["ph"] == "X" and each["ts"] < TIMELINE_US]
    counters: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for each in events:
        if each["ph"] == "C" and each["ts"] < TIMELINE_US:
            counters[each["name"]].append((each["ts"], float(next(iter(each["args"].values())))))
    print(sorted(counters), {each["name"] for each in slices})


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
