"""The programs of the page on the library print what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rogue import simulator

TEXT = (Path(__file__).parents[2] / "docs/LIBRARY.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("program", "printed"), PROGRAMS, ids=["simulation", "software"])
def test_a_program_prints_what_stands_below_it(program: str, printed: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed


def test_the_simulation_has_fifteen_lines_at_most() -> None:
    assert len([line for line in PROGRAMS[0][0].splitlines() if line]) <= 15


def test_every_name_of_the_table_is_there() -> None:
    table = TEXT[TEXT.index("| you want |") :]
    for name in re.findall(r"`([A-Z]\w+)`", table):
        assert name in simulator.__all__
