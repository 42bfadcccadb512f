"""`rogue` with the fake testbed: a script, so that a test meets the real command line and processes.

Reports are left out, unless $ROGUE_FAKE_REPORT is `real`; if it is `broken`, building one fails.
"""

import os
import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers.fake_testbed import FakeTestbed

from rogue.harness.cli import main
from rogue.harness.testbeds import TESTBEDS


def build(run: Path, output: Path | None = None, *_: object) -> Path:
    """Stand in for `rogue.reports.pages.build`."""
    if os.environ.get("ROGUE_FAKE_REPORT") == "broken":
        raise ValueError("no ink")
    path = output or run / "report.html"
    path.write_text("<p>nothing</p>")
    return path


def call() -> None:
    """Be `rogue`, with the arguments and the environment of this process."""
    TESTBEDS["fake"] = FakeTestbed
    if os.environ.get("ROGUE_FAKE_REPORT") != "real":
        fake = ModuleType("rogue.reports.pages.build")
        fake.build = build  # type: ignore[attr-defined]
        sys.modules["rogue.reports.pages.build"] = fake
    main()


if __name__ == "__main__":
    call()
