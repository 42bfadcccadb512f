"""Tests: the commands of docs pages do what the pages say."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from helpers import needs
from helpers.pages import ROOT, blocks_of, run_script, text_of
from helpers.receiver_files import RECEIVERS
from helpers.switch_files import SWITCHES

from rogue.harness.experiment.choices import MeasureChoice
from rogue.simulator.packets import FATES
from rogue.workloads.switch_controls import SwitchControlParameter
from rogue.workloads.units import QUANTITY_OF_SUFFIX

TEXT = text_of("how-to/inspect-packets.md")


@pytest.mark.parametrize("left_out", ["tshark", pytest.param("nothing", marks=pytest.mark.needs("tshark"))])
def test_every_command_does_what_the_page_says(left_out: str, tmp_path: Path) -> None:
    if left_out in needs.NEEDS and needs.program(left_out):
        pytest.skip(f"{left_out} is here, so that nothing is left out")
    script = "\n".join(block for block in blocks_of(TEXT) if left_out not in block)
    said = run_script(script.replace("run inside", "run inside --set scale=quick"), tmp_path)
    assert {each.suffix for each in (tmp_path / "captures").iterdir()} == {".pcapng"}
    assert {each.suffix for each in (tmp_path / "timelines").iterdir()} == {".json"}
    assert left_out == "tshark" or said.count("RRoCE 74 ") > 10


def test_every_reason_and_key_is_explained() -> None:
    named = set(re.findall(r"`([a-z_]+)`", TEXT))
    assert {fate for fate in FATES if fate} <= named
    assert {"ports", "flows", "from", "until", "packets_max"} <= named
    assert MeasureChoice.model_validate("packets").packets_max == 100_000
    assert "100 000 by default" in TEXT


PLUGINS_TEXT = text_of("how-to/plug-ins.md")


def test_plugins_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    said = run_script("\n".join(blocks_of(PLUGINS_TEXT)), tmp_path)
    assert "halve.py: control halve keeps the contract" in said
    assert "(plug-in halve.py)" in said
    assert (tmp_path / "test_halve.py").is_file()
    (run,) = (tmp_path / "results/halve").iterdir()
    assert "Halve" in (run / "report.html").read_text()


def test_every_call_that_it_names_is_there() -> None:
    from rogue.agent.core import plugins as agent
    from rogue.harness.data import plugins as formats
    from rogue.harness.testbeds.simulator import plugins as nics
    from rogue.reports import plugins as shown
    from rogue.workloads import plugins as traffic

    named = set(re.findall(r"`([a-z_.]+)\.(register_[a-z_]+)\(", PLUGINS_TEXT))
    there = {
        (module.__name__, name)
        for module in (agent, formats, nics, shown, traffic)
        for name in getattr(module, "__all__", dir(module))
        if name.startswith("register_")
    }
    assert named == there


SWITCH_CONTROLS_TEXT = text_of("how-to/switch-controls.md")
RECEIVER_CONTROLS_TEXT = text_of("how-to/receiver-controls.md")
HEADER = (ROOT / "simulator/include/rogue/switch_control.h").read_text()
SHORT = (("repetitions: 3", "repetitions: 1"), ("repeat_for: 100ms", "repeat_for: 5ms"), (", 16]", "]"))
"""The page's run takes half a minute."""


def test_switch_controls_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    script = "\n".join(blocks_of(SWITCH_CONTROLS_TEXT))
    for long, short in SHORT:
        assert long in script
        script = script.replace(long, short)
    shutil.copy(SWITCHES / "codel.h", tmp_path)
    said = run_script(script, tmp_path)
    assert "step.h: switch_control step keeps the contract".replace("_", " ") in said
    assert "above  default 50000B" in said
    (run,) = (tmp_path / "results/delay").iterdir()
    assert "codel" in (run / "report.html").read_text()


def test_receiver_controls_every_command_does_what_the_page_says(tmp_path: Path) -> None:
    for name in ("ndp.h", "eqds.h"):
        shutil.copy(RECEIVERS / name, tmp_path)
    said = run_script("\n".join(blocks_of(RECEIVER_CONTROLS_TEXT)), tmp_path)
    assert "pull.h: receiver control pull keeps the contract" in said
    assert "share  default 0.99" in said
    (run,) = (tmp_path / "results/pulls").iterdir()
    assert "ndp" in (run / "report.html").read_text()


@pytest.mark.parametrize(
    ("text", "folder"), [(SWITCH_CONTROLS_TEXT, SWITCHES), (RECEIVER_CONTROLS_TEXT, RECEIVERS)]
)
def test_every_file_stands_in_the_table(text: str, folder: Path) -> None:
    named = set(re.findall(r"^\| `([a-z0-9]+\.h)`", text, re.M))
    assert named == {file.name for file in folder.glob("*.h")} - {"grim.h"}


def test_parameters_are_read_as_the_page_says() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+): ([^`]+)` \| (.*?) \|$", SWITCH_CONTROLS_TEXT, re.M)
    read = {}
    for name, key, written, _ in rows:
        parameter = SwitchControlParameter(name, 0, 0, 1e18, "")
        assert parameter.key == key
        read[name] = parameter.read(float(written) if written[-1].isdigit() else written)
    assert read == {"above_bytes": 30_000, "pace_bps": 10**10, "target_ns": 5_000, "share": 0.5}
    ends = [f"_{name.rpartition('_')[2]}" for name in read if "_" in name]
    assert sorted(ends) == sorted(QUANTITY_OF_SUFFIX)
    assert all(f"`{end}`" in HEADER for end in ends)


TUTORIAL_TEXT = "\n".join(
    text_of(f"tutorials/{page}.md") for page in ("first-report", "own-experiment", "own-control")
)
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
    text = "\n".join(block for block in blocks_of(TUTORIAL_TEXT) if MAKE not in block)
    return STOP.sub(r"python stop_a_run.py \1", text)


def test_make_runs_the_experiment_that_the_tutorial_names() -> None:
    assert blocks_of(TUTORIAL_TEXT)[0] == f"{MAKE}\n"
    dry = subprocess.run(
        ["make", "-n", "run-experiment"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert re.search(r"rogue run experiments/quickstart\.yaml\b", dry.stdout)


def test_every_command_does_what_the_tutorial_says(tmp_path: Path) -> None:
    activate = tmp_path / ".venv/bin/activate"
    activate.parent.mkdir(parents=True)
    activate.touch()
    (tmp_path / "stop_a_run.py").write_text(STOP_A_RUN)
    assert STOP.search(TUTORIAL_TEXT), "the tutorial stops a run"
    said = run_script(script(), tmp_path)
    runs = sorted((tmp_path / "results/my-incast").iterdir())
    assert len(runs) == 2 and all((run / "report.html").exists() for run in runs)
    assert "topology.buffer_bytes" in said, "the comparison names what was set"
    metrics = pd.read_csv(tmp_path / "csv/metrics.csv")
    assert len(metrics[metrics.metric == "queue_p50_bytes"]) == 16
    table = re.search(r"roce\+pfc\+dcqcn( +[\d.]+){3} +4$", said, re.MULTILINE)
    assert table, "the snippet prints mean, least, most and count"
