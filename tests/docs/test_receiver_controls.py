"""The commands of the page on receivers of one's own, run in its order beside ndp.h and eqds.h."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from helpers.receiver_files import RECEIVERS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/how-to/receiver-controls.md").read_text()
HEADER = (ROOT / "simulator/include/rogue/receiver_control.h").read_text()


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    script = "\n".join(re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL))
    for name in ("ndp.h", "eqds.h"):
        shutil.copy(RECEIVERS / name, tmp_path)
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
    assert "pull.h: receiver control pull keeps the contract" in done.stdout
    assert "share  default 0.99" in done.stdout
    (run,) = (tmp_path / "results/pulls").iterdir()
    assert "ndp" in (run / "report.html").read_text()


def test_every_file_stands_in_the_table() -> None:
    named = set(re.findall(r"^\| `([a-z0-9]+\.h)`", TEXT, re.M))
    assert named == {file.name for file in RECEIVERS.glob("*.h")} - {"grim.h"}


def test_every_number_that_a_control_is_told_says_its_unit_or_what_it_counts() -> None:
    for name in ("Host", "Received", "Grant"):
        (body,) = re.findall(rf"^struct {name} {{\n(.*?)^}};", HEADER, re.DOTALL | re.MULTILINE)
        for line in body.splitlines():
            field, _, comment = line.partition("//")
            kind, own = field.partition("=")[0].strip(" ;").rsplit(" ", 1)
            if kind == "std::int64_t":
                assert own.endswith(("_ps", "_bps", "_bytes", "bytes", "_packets")), own
            elif not own.startswith("is_"):
                assert comment.strip(), own
