"""Run and load in Python: plug-ins of a run load only if they are named, and a warning lists the others."""

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from helpers.plugin_files import SHOWN
from helpers.sample_run import write_sample_run

import rogue
from rogue.harness.execution import slot
from rogue.harness.plugins.loading import unload_plugins
from rogue.workloads.manifest import checksum_of


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    run = write_sample_run(tmp_path / "run")
    path = run / "manifest.json"
    told = json.loads(path.read_text())
    text = SHOWN.read_text()
    told["plugins"] = [{"file": "shown.py", "sha256": "0" * 64, "text": text, "adds": ["measure flows_seen"]}]
    path.write_text(json.dumps({**told, "checksum": checksum_of(told)}))
    yield run
    unload_plugins()


def measures(run: rogue.LoadedRun) -> set[str]:
    return set(run.metrics["metric"])


def test_untrusted_measure_is_left_out_with_a_warning(directory: Path) -> None:
    told = r"shown\.py is code that was not named: measure flows_seen; name it: rogue\.load\(RUN, plugins="
    with pytest.warns(UserWarning, match=told):
        run = rogue.load(directory)
    assert "flows_seen" not in measures(run)


def test_named_or_trusted_measure_is_loaded(directory: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "flows_seen" in measures(rogue.load(directory, plugins=[SHOWN]))
        unload_plugins()
        assert "flows_seen" in measures(rogue.load(str(directory), trusts_plugins=True))


def test_a_plug_in_that_is_not_there_is_a_sentence(directory: Path) -> None:
    with pytest.raises(rogue.HarnessError, match=r"gone\.py"):
        rogue.load(directory, plugins=["gone.py"])


EXPERIMENT = {
    "name": "small",
    "topology": {"kind": "star", "hosts": 3, "rate": "10Gbps", "delay": "1us"},
    "workload": {"kind": "incast", "senders": 2, "size": "100KB"},
    "transports": ["roce"],
}


def test_a_dictionary_runs_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "_start_worker", None)
    sweep = {**EXPERIMENT, "factors": {"workload.senders": [1, 2]}}
    run = rogue.run(sweep, settings=["seed=7"], out=tmp_path)
    assert run.cells["status"].tolist() == ["ok", "ok"]
    assert run.cells["seed"].tolist() == [7, 7]
    assert len(run.flows) == 3
    assert run.manifest.status == "complete"
    again = rogue.load(tmp_path / "small" / run.manifest.run_id)
    pd.testing.assert_frame_equal(again.flows, run.flows)


def test_a_file_runs_with_a_plug_in(tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(json.dumps(EXPERIMENT))
    try:
        run = rogue.run(file, plugins=[SHOWN], out=tmp_path / "results")
        assert "flows_seen" in measures(run)
    finally:
        unload_plugins()


def test_failed_cells_are_a_warning(tmp_path: Path) -> None:
    slow = {**EXPERIMENT, "time_limit": "10us"}
    with pytest.warns(UserWarning, match=r"1 of 1 cells failed, the first, roce-r1: .* raise time_limit"):
        run = rogue.run(slow, out=tmp_path)
    assert run.cells["status"].tolist() == ["failed"]


MANY_CELLS = """
import json, resource, sys, warnings
import rogue

def resident_bytes():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

resource.setrlimit(resource.RLIMIT_AS, (8_000_000 * 1024,) * 2)
warnings.simplefilter("error")  # a cell that fails
experiment, out, calls = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
rogue.run(experiment, out=out)
first_bytes = resident_bytes()
for _ in range(calls):
    rogue.run(experiment, out=out)
print(resident_bytes() - first_bytes)
"""


@pytest.mark.parametrize("calls", [1, pytest.param(50, marks=pytest.mark.long)])
def test_many_cells_run_in_one_process_under_a_limit_of_addresses(tmp_path: Path, calls: int) -> None:
    many = {**EXPERIMENT, "repetitions": 100, "transports": ["rogue", "roce"]}
    words = [sys.executable, "-c", MANY_CELLS, json.dumps(many), str(tmp_path), str(calls)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 16 * 2**20


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"topology": {"kind": "star", "hosts": 0}}, r"<dictionary>: topology\.hosts: got 0, expected"),
        ({"seed": object()}, r"<dictionary>: got Object of type object .*; write other values as texts"),
    ],
)
def test_a_wrong_dictionary_is_a_sentence(tmp_path: Path, change: dict[str, object], words: str) -> None:
    with pytest.raises(rogue.HarnessError, match=words):
        rogue.run({**EXPERIMENT, **change}, out=tmp_path)
    assert not list(tmp_path.iterdir())
