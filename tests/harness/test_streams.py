"""Exit codes and output of every command, whatever its standard streams and its signals are."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
import typer
from helpers.command_line import SCRIPT, rogue, rogue_with
from helpers.experiments import write_experiment
from helpers.plugin_files import FIXED_TWICE
from helpers.waiting_run import LABELS, PATIENCE_SECONDS, Waiting

from rogue.harness.cli import app
from rogue.harness.results.run_directory import read_manifest

QUICK: Final = """\
name: small
topology: {kind: star, hosts: 4, rate: 10Gbps, delay: 1us}
workload: {kind: incast, senders: 2, size: 10KB}
transports: [roce, irn]
"""
SPACE: Final = """\
aim: {metric: fct_mean_ns, direction: most, bound: 5000, transport: roce}
keys: {workload.size: {from: 1KB, to: 10KB, source: a test}}
budget: {cells: 4, batch: 2, shrink: 2}
seeds: {first: 1, count: 1, held_out_first: 9, held_out_count: 1}
"""
VARY: Final = """\
measures: [fct_mean_ns]
transport: roce
keys: {workload.size: {from: 1KB, to: 10KB, source: a test}}
trajectories: 2
seeds: {count: 1}
"""
COMMANDS: Final = {
    "run experiment.yaml --testbed fake --jobs 1 --out new": 0,
    "run failing.yaml --testbed fake --jobs 1 --out new": 1,
    "run nowhere.yaml": 2,
    "run --colour": 2,
    "run impossible.yaml": 4,
    "run experiment.yaml --jobs 1 --out experiment.yaml": 6,
    "plan experiment.yaml": 0,
    "show experiment.yaml": 0,
    "search experiment.yaml --space space.yml --plan": 0,
    "sensitivity experiment.yaml --vary vary.yml --plan": 0,
    "weaknesses nowhere.yml": 2,
    "report RUN": 0,
    "report damaged": 5,
    "compare RUN RUN": 0,
    "compare RUN damaged": 5,
    "gate RUN RUN": 0,
    "conformance nowhere.yaml": 2,
    "gate RUN damaged": 5,
    "export RUN": 0,
    "export damaged": 5,
    "figures RUN --format tex": 0,
    "figures damaged": 5,
    "verify RUN": 0,
    "verify damaged": 5,
    "verify experiment.yaml": 2,
    "list transports": 0,
    "list runs results": 0,
    "provision nowhere.yaml": 2,
    "doctor nowhere.yaml": 2,
    "teardown nowhere.yaml": 2,
    "rm RUN --yes": 0,
    "rm RUN": 2,
    "watch RUN": 0,
    "claims nowhere": 2,
    "reproduce nothing": 2,
    "new control halve": 0,
    "check-plugin twice.py": 0,
    "import nothing experiment.yaml": 2,
    "testbed status --name nowhere": 7,
    "inventory check nowhere.yaml": 2,
    "switch plan nowhere.yaml": 2,
    "--help": 0,
    "--version": 0,
}
"""Commands and their exit codes in a folder with an experiment, a run and a damaged copy of the run."""
"""A stream that takes everything, one whose reader has gone, one without room, and none."""
FEW: Final = (("gone", "gone"), ("full", "full"), ("closed", "closed"), ("null", "full"))
"""Standard output and standard error; where both are closed, standard input is closed as well."""
LOUD: Final = """\
import sys
from multiprocessing import parent_process
from typing import Literal
from rogue.workloads.plugins import register_workload
from rogue.workloads.specification import Size
from rogue.workloads.traffic import Flow, Workload

class Loud(Workload):
    kind: Literal["loud"] = "loud"
    size_bytes: Size

    def hosts_min(self):
        return 2

    def flows(self, placement, seed):
        if parent_process() is not None:
            print("planned")
            print("planned", file=sys.stderr)
        return (Flow(source="h0", destination="h1", verb="write", size_bytes=self.size_bytes, start_ns=0),)

    @property
    def duration_ns(self):
        return None

register_workload(Loud)
"""
LOST: Final = 6
INTERRUPTED: Final = {
    "run experiment.yaml --testbed fake --jobs 1 --out new": "experiment.yaml",
    "plan experiment.yaml": "experiment.yaml",
    "search experiment.yaml --space space.yml --plan": "space.yml",
    "sensitivity experiment.yaml --vary vary.yml --plan": "vary.yml",
    "report RUN": "manifest.json",
    "compare RUN RUN": "manifest.json",
    "gate RUN RUN": "manifest.json",
    "export RUN": "manifest.json",
    "figures RUN --format tex": "manifest.json",
    "verify RUN": "manifest.json",
    "list runs results": "manifest.json",
    "rm RUN --yes": "manifest.json",
    "watch RUN": "manifest.json",
    "claims results": "manifest.json",
    "check-plugin twice.py": "twice.py",
    "import hpcc-flows experiment.yaml": "experiment.yaml",
}
"""Commands, and the file at whose opening Ctrl-C is pressed."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder in which the commands are called; each is called in a copy."""
    folder = tmp_path_factory.mktemp("prepared")
    files = {
        "experiment.yaml": QUICK,
        "failing.yaml": LABELS % ("ok", "throws"),
        "impossible.yaml": f"{QUICK}measure: [{{kind: queues, interval: 1ns}}]\n",
        "space.yml": SPACE,
        "vary.yml": VARY,
        "twice.py": FIXED_TWICE,
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    done = rogue(folder, "run", "experiment.yaml", "--jobs", "1")
    assert done.code == 0, done.err
    shutil.copytree(folder / done.run, folder / "damaged")
    next((folder / "damaged/cells/roce-r1").glob("*.parquet")).write_bytes(b"damaged")
    return folder


def words(folder: Path, command: str) -> list[str]:
    (run,) = (folder / "results/small").iterdir()
    return command.replace("RUN", str(run.relative_to(folder))).split()


def code_with(streams: tuple[str, str], folder: Path, command: str) -> int:
    closed = tuple(number for number, kind in enumerate(streams, start=1) if kind == "closed")
    closed = (0, *closed) if len(closed) == len(streams) else closed
    return rogue_with((opened(streams[0]), opened(streams[1])), closed, folder, *words(folder, command))


def opened(kind: str) -> int:
    """Return a descriptor for output."""
    if kind == "gone":
        reader, writer = os.pipe()
        os.close(reader)
        return writer
    return os.open("/dev/full" if kind == "full" else os.devnull, os.O_WRONLY)


def check(prepared: Path, tmp_path: Path, command: str, tried: Sequence[tuple[str, str]]) -> None:
    """Output that is lost is an error, and every other exit code takes precedence."""
    usual = rogue(shutil.copytree(prepared, tmp_path / "usual"), *words(prepared, command))
    assert usual.code == COMMANDS[command], usual.err
    for streams in tried:
        folder = shutil.copytree(prepared, tmp_path / "-".join(streams))
        is_lost = streams[0] == "full" and usual.out != ""
        expected = LOST if is_lost and usual.code == 0 else usual.code
        assert code_with(streams, folder, command) == expected, streams


def test_every_command_is_tried() -> None:
    tried = {command.split()[0] for command in COMMANDS}
    assert set(typer.main.get_command(app).commands) <= tried  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_stream_changes_the_exit_code(prepared: Path, tmp_path: Path, command: str) -> None:
    check(prepared, tmp_path, command, FEW)


@pytest.mark.parametrize("redirections", ["2>&- >&- <&-", "2>/dev/full"])
def test_workers_start_without_streams(tmp_path: Path, redirections: str) -> None:
    """A plug-in prints in the worker before anything else does."""
    (tmp_path / "loud.py").write_text(LOUD)
    write_experiment(tmp_path, f"{QUICK}plugins: [loud.py]\n".replace("incast, senders: 2, ", "loud, "))
    line = f'exec "$@" {redirections}'
    command = [sys.executable, "-m", "rogue", "run", "experiment.yaml", "--jobs", "1"]
    done = subprocess.run(["sh", "-c", line, "sh", *command], cwd=tmp_path, capture_output=True, check=False)
    (run,) = (tmp_path / "results/small").iterdir()
    assert (done.returncode, read_manifest(run).status, (run / "report.html").exists()) == (
        0,
        "complete",
        True,
    )


def test_unbuffered_output_needs_no_flush() -> None:
    source = """
import os
from rogue.harness.streams import keep_standard_streams
keep_standard_streams()
print("said")
os._exit(0)
"""
    command, unbuffered = [sys.executable, "-c", source], os.environ | {"PYTHONUNBUFFERED": "1"}
    done = subprocess.run(command, env=unbuffered, capture_output=True, check=True)
    assert done.stdout == b"said\n"


@pytest.mark.parametrize("command", INTERRUPTED)
def test_ctrl_c_ends_every_command_with_its_code_and_a_sentence(
    prepared: Path, tmp_path: Path, command: str
) -> None:
    folder = shutil.copytree(prepared, tmp_path / "folder")
    done = rogue(folder, *words(folder, command), ROGUE_INTERRUPTED_AT=INTERRUPTED[command])
    assert done.code == 130, done.err
    assert done.err.strip(), "it says that it was stopped"
    assert "Traceback" not in done.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_that_has_no_reader(tmp_path: Path, number: signal.Signals, code: int) -> None:
    waiting = Waiting(tmp_path)
    for stream in (waiting.process.stdout, waiting.process.stderr):
        assert stream is not None
        stream.close()
    waiting.process.send_signal(number)
    assert waiting.process.wait(PATIENCE_SECONDS) == code
    assert waiting.worker_is_gone()
    assert read_manifest(waiting.run).status == "partial"


def test_the_path_of_a_run_names_it_whatever_bytes_it_has(tmp_path: Path) -> None:
    write_experiment(tmp_path, LABELS % ("ok", "ok2"))
    command = [sys.executable, str(SCRIPT), "run", "experiment.yaml", "--testbed", "fake", "--out", b"a\xff"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    run = done.stdout.rstrip()
    assert (tmp_path / os.fsdecode(run)).is_dir()
    assert b"report: " + run in done.stderr
