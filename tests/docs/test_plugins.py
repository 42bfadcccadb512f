"""The commands of the page on plug-ins, run in its order in an empty directory."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/PLUGINS.md").read_text()


def test_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", "set -euo pipefail\n" + "\n".join(blocks)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "halve.py: control halve keeps the contract" in done.stdout
    assert "(plug-in halve.py)" in done.stdout
    assert (tmp_path / "test_halve.py").is_file()
    (run,) = (tmp_path / "results/halve").iterdir()
    assert "Halve" in (run / "report.html").read_text()


def test_every_call_that_it_names_is_there() -> None:
    from rogue.agent.core import plugins as agent
    from rogue.harness.data import plugins as formats
    from rogue.harness.provisioning.switches import plugins as switches
    from rogue.harness.testbeds.simulator import plugins as nics
    from rogue.reports import plugins as shown
    from rogue.workloads import plugins as traffic

    named = set(re.findall(r"`([a-z_.]+)\.(register_[a-z_]+)\(", TEXT))
    there = {
        (module.__name__, name)
        for module in (agent, formats, nics, shown, switches, traffic)
        for name in module.__all__
        if name.startswith("register_")
    }
    assert named == there
