"""Write docs/sample-report.html and docs/images/quickstart.png from a new run of the quickstart.

.venv/bin/python scripts/write_sample_report.py        # then correct the numbers under README's figure
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

DOCS: Final = Path(__file__).parent.parent / "docs"
FIGURE: Final = "probe_latency"
WIDTH: Final = "7in"


def main() -> None:
    """Run it outside of the checkout: there a report links to nothing that a downloaded page has not."""
    with TemporaryDirectory() as directory:
        rogue("run", "quickstart", "--out", directory)
        [report] = Path(directory).glob("quickstart/*/report.html")
        shutil.copy(report, DOCS / "sample-report.html")
        figures = Path(directory) / "figures"
        wanted = ("--only", FIGURE, "--format", "png", "--width", WIDTH)
        rogue("figures", str(report.parent), *wanted, "--out", str(figures))
        [figure] = figures.rglob("*.png")
        shutil.copy(figure, DOCS / "images/quickstart.png")


def rogue(*words: str) -> None:
    """Call the command."""
    subprocess.run([sys.executable, "-m", "rogue", *words], check=True)


if __name__ == "__main__":
    main()
