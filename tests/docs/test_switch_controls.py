"""The commands of the page on switches of one's own, run in its order where there is codel.h alone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.switch_files import SWITCHES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/SWITCH_CONTROLS.md").read_text()
SHORT = (("repetitions: 3", "repetitions: 1"), ("repeat_for: 100ms", "repeat_for: 5ms"), (", 16]", "]"))
"""The page's run takes half a minute."""


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    script = "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL))
    for long, short in SHORT:
        assert long in script
        script = script.replace(long, short)
    shutil.copy(SWITCHES / "codel.h", tmp_path)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", "set -euo pipefail\n" + script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "step.h: switch_control step keeps the contract".replace("_", " ") in done.stdout
    assert "above  default 50000B" in done.stdout
    (run,) = (tmp_path / "results/delay").iterdir()
    assert "codel" in (run / "report.html").read_text()


def test_every_file_stands_in_the_table() -> None:
    named = set(re.findall(r"^\| `([a-z0-9]+\.h)`", TEXT, re.M))
    assert named == {file.name for file in SWITCHES.glob("*.h")} - {"grim.h"}
