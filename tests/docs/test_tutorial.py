"""The tutorial's commands, run in its order in an empty directory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/TUTORIAL.md").read_text()
MAKE = "make run-experiment"
STOP = re.compile(r"^rogue (run .*?) +# press Ctrl-C.*$", re.MULTILINE)
STOP_A_RUN = """
import signal, subprocess, sys
process = subprocess.Popen(["rogue", *sys.argv[1:]], stderr=subprocess.PIPE, text=True)
for line in process.stderr:
    if line.startswith("[1/"):
        process.send_signal(signal.SIGINT)
        break
said = process.stderr.read()
sys.exit(0 if process.wait() == 130 and "--resume" in said else f"not stopped as it should: {said}")
"""


def commands() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)


def script() -> str:
    """All blocks as one; the set-up stands for itself, and Ctrl-C comes after the first cell."""
    text = "\n".join(block for block in commands() if MAKE not in block)
    return "set -euo pipefail\n" + STOP.sub(r"python stop_a_run.py \1", text)


def test_make_runs_the_experiment_that_the_tutorial_names() -> None:
    assert commands()[0] == f"{MAKE}\n"
    dry = subprocess.run(
        ["make", "-n", "run-experiment"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert re.search(r"rogue run experiments/quickstart\.yaml\b", dry.stdout)


def test_every_command_does_what_the_tutorial_says(tmp_path: Path) -> None:
    activate = tmp_path / ".venv/bin/activate"
    activate.parent.mkdir(parents=True)
    activate.write_text(f'export PATH="{Path(sys.executable).parent}:$PATH"\n')
    (tmp_path / "stop_a_run.py").write_text(STOP_A_RUN)
    assert STOP.search(TEXT), "the tutorial stops a run"
    done = subprocess.run(
        ["bash", "-c", script()],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    runs = sorted((tmp_path / "results/my-incast").iterdir())
    assert len(runs) == 2 and all((run / "report.html").exists() for run in runs)
    assert "topology.buffer_bytes" in done.stdout, "the comparison names what was set"
    metrics = pd.read_csv(tmp_path / "csv/metrics.csv")
    assert len(metrics[metrics.metric == "queue_p50_bytes"]) == 16
    table = re.search(r"roce\+pfc\+dcqcn( +[\d.]+){3} +4$", done.stdout, re.MULTILINE)
    assert table, "the snippet prints mean, least, most and count"
