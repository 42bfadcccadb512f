"""The page on results: its tables are the code's, and its programs run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import write_results
from helpers.sample_run import write_sample_run

from rogue.harness.results.cell_directory import encode
from rogue.workloads.records import TABLES

TEXT = write_results.PAGE.read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_the_tables_are_those_of_the_code() -> None:
    advice = "docs/RESULTS.md is old; run: .venv/bin/python scripts/write_results.py"
    assert write_results.page(TEXT) == TEXT, advice


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample whose first cell has a table as runs write it."""
    directory = write_sample_run(tmp_path_factory.mktemp("runs") / "run")
    written = {column: [] for column in TABLES["flows"].column_names()}
    (directory / "cells/written").mkdir()
    (directory / "cells/written/flows.parquet").write_bytes(encode({"flows": written})["flows.parquet"])
    return directory


@pytest.mark.parametrize("program", PROGRAMS, ids=["load", "run", "schema"])
def test_a_program_runs(run: Path, tmp_path: Path, program: str) -> None:
    text = program.replace("results/quickstart/RUN_ID", str(run)).replace(
        "RUN/cells/CELL", f"{run}/cells/written"
    )
    *lines, last = text.strip().splitlines()
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*lines, f"print({last})"])],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() not in {"", "None"}
