"""The tutorial's commands, run in its order in an empty directory."""

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
from helpers.pages import ROOT, blocks_of, run_script, text_of

TEXT = text_of("TUTORIAL.md")
MAKE = "make run-experiment"
STOP = re.compile(r"^rogue (run .*?) +# press Ctrl-C.*$", re.MULTILINE)
STOP_A_RUN = f"""
import signal, subprocess, sys
rogue = "{Path(sys.executable).with_name("rogue")}"
process = subprocess.Popen([rogue, *sys.argv[1:]], stderr=subprocess.PIPE, text=True)
for line in process.stderr:
    if line.startswith("[1/"):
        process.send_signal(signal.SIGINT)
        break
said = process.stderr.read()
sys.exit(0 if process.wait() == 130 and "--resume" in said else f"not stopped as it should: {{said}}")
"""


def script() -> str:
    """All blocks as one; the set-up stands for itself, and Ctrl-C comes after the first cell."""
    text = "\n".join(block for block in blocks_of(TEXT) if MAKE not in block)
    return STOP.sub(r"python stop_a_run.py \1", text)


def test_make_runs_the_experiment_that_the_tutorial_names() -> None:
    assert blocks_of(TEXT)[0] == f"{MAKE}\n"
    dry = subprocess.run(
        ["make", "-n", "run-experiment"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert re.search(r"rogue run experiments/quickstart\.yaml\b", dry.stdout)


def test_every_command_does_what_the_tutorial_says(tmp_path: Path) -> None:
    activate = tmp_path / ".venv/bin/activate"
    activate.parent.mkdir(parents=True)
    activate.touch()
    (tmp_path / "stop_a_run.py").write_text(STOP_A_RUN)
    assert STOP.search(TEXT), "the tutorial stops a run"
    said = run_script(script(), tmp_path)
    runs = sorted((tmp_path / "results/my-incast").iterdir())
    assert len(runs) == 2 and all((run / "report.html").exists() for run in runs)
    assert "topology.buffer_bytes" in said, "the comparison names what was set"
    metrics = pd.read_csv(tmp_path / "csv/metrics.csv")
    assert len(metrics[metrics.metric == "queue_p50_bytes"]) == 16
    table = re.search(r"roce\+pfc\+dcqcn( +[\d.]+){3} +4$", said, re.MULTILINE)
    assert table, "the snippet prints mean, least, most and count"
