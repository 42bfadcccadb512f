"""A process of its own that builds the report of a run which is still going.

It stands back behind the run: no lock, a low priority, and not a byte into the run's directory.
"""

import os
import sys
from pathlib import Path
from typing import Final

from rogue.harness.results.recorded_run import present_manifest
from rogue.start_up import prepare

NICENESS: Final = 19
NICENESS_ON_THE_SIMULATOR: Final = 10
"""Enough to come to an end beside cells on all cores; what the simulator measures does not depend on time."""


def preview(run: Path, page: Path) -> None:
    """Build a report of the cells that are finished, as the page named."""
    from rogue.reports.pages.build import build

    build(run, page, {run: present_manifest(run)})


if __name__ == "__main__":
    prepare()
    testbed, *paths = sys.argv[1:]
    os.nice(NICENESS_ON_THE_SIMULATOR if testbed == "simulator" else NICENESS)
    preview(*map(Path, paths))
