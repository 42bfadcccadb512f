"""The commands of the page on looking inside, run in its order in an empty directory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import needs

from rogue.harness.experiment.choices import MeasureChoice
from rogue.simulator.packets import FATES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/INSIDE.md").read_text()


@pytest.mark.parametrize("left_out", ["tshark", pytest.param("nothing", marks=pytest.mark.needs("tshark"))])
def test_every_command_does_what_the_page_says(left_out: str, tmp_path: Path) -> None:
    if left_out in needs.NEEDS and needs.program(left_out):
        pytest.skip(f"{left_out} is here, so that nothing is left out")
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    blocks = [block for block in blocks if left_out not in block]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [
            "bash",
            "-c",
            "set -euo pipefail\n" + "\n".join(blocks).replace("run inside", "run inside --set scale=quick"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert {each.suffix for each in (tmp_path / "captures").iterdir()} == {".pcapng"}
    assert {each.suffix for each in (tmp_path / "timelines").iterdir()} == {".json"}
    assert left_out == "tshark" or done.stdout.count("RRoCE 74 ") > 10


def test_every_reason_and_key_is_explained() -> None:
    named = set(re.findall(r"`([a-z_]+)`", TEXT))
    assert {fate for fate in FATES if fate} <= named
    assert {"ports", "flows", "from", "until", "packets_max"} <= named
    assert MeasureChoice.model_validate("packets").packets_max == 100_000
    assert "100 000 by default" in TEXT
