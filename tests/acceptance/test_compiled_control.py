"""A control of NICs in C++ as a plug-in: planned, run, verified, sent to others, like one in Python."""

import hashlib
import shutil
from pathlib import Path

import pytest
from helpers.command_line import rogue
from helpers.dask_programs import dask_programs
from helpers.plugin_files import DCQCN_COMPILED, FOLDER, CountingCompiler

from rogue.harness.results.manifest import read_manifest
from rogue.workloads.records import FailureKind

MINE = """\
name: compiled
plugins: [{plugin}]
topology: {{kind: star, hosts: 4, rate: 10Gbps, delay: 1us, buffer: 9MB}}
workload: {{kind: incast, senders: 3, size: 1MB, repeat_for: 2ms}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, control]
"""
DCQCN = "roce+pfc+my-dcqcn"


def experiment(folder: Path, plugin: Path, transport: str) -> None:
    folder.mkdir(exist_ok=True)
    shutil.copy(plugin, folder)
    (folder / "mine.yaml").write_text(MINE.format(plugin=plugin.name, transport=transport))


def test_it_is_called_what_it_is_and_kept_with_its_text(tmp_path: Path) -> None:
    experiment(tmp_path, DCQCN_COMPILED, DCQCN)
    planned = rogue(tmp_path, "plan", "mine.yaml")
    assert planned.code == 0, planned.err
    assert f"note: {DCQCN} has a compiled control from outside the engine: " in planned.out
    done = rogue(tmp_path, "run", "mine.yaml")
    assert done.code == 0, done.err
    manifest = read_manifest(tmp_path / done.run)
    text = DCQCN_COMPILED.read_text()
    (kept,) = manifest.plugins
    assert (kept.text, kept.sha256) == (text, hashlib.sha256(text.encode()).hexdigest())
    assert kept.adds == ["nic_control my-dcqcn"]
    outside = manifest.cells[0].facts["outside_control"]
    assert outside == "my-dcqcn, a compiled control from outside the engine"
    assert rogue(tmp_path, "verify", str(done.run)).code == 0
    resumed = rogue(tmp_path, "run", "--resume", str(done.run))
    assert resumed.code == 2
    assert "expected a person's word that this code may run" in resumed.err
    manifest_file = tmp_path / done.run / "manifest.json"
    manifest_file.write_text(manifest_file.read_text().replace("a CNP cuts the rate", "a CNP cuts no rate"))
    assert rogue(tmp_path, "verify", str(done.run)).code == 5


def test_workers_of_a_cluster_have_the_same_tables_and_their_own_library(tmp_path: Path) -> None:
    experiment(tmp_path / "here", DCQCN_COMPILED, DCQCN)
    experiment(tmp_path / "there", DCQCN_COMPILED, DCQCN)
    here = rogue(tmp_path / "here", "run", "mine.yaml")
    with dask_programs(workers=1) as cluster:
        there = rogue(tmp_path / "there", "run", "mine.yaml", "--dask", cluster.address)
    assert (here.code, there.code) == (0, 0), there.err
    one, other = (
        next((tmp_path / name / done.run).glob("cells/*/control.parquet")).read_bytes()
        for name, done in (("here", here), ("there", there))
    )
    assert one == other


def test_a_machine_compiles_once_whoever_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = CountingCompiler(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    experiment(tmp_path / "mine", DCQCN_COMPILED, DCQCN)
    for command in ("plan", "run"):
        done = rogue(tmp_path / "mine", command, "mine.yaml")
        assert done.code == 0, done.err
    assert compiler.calls() == 1


@pytest.mark.parametrize(
    ("mood", "message"),
    [
        (5, "the plug-in raised at moody.h:{tired}: on_timer: tired; correct the line"),
        (4, "the plug-in raised at moody.h: moody.deadline_ps: expected 1000001 or later after on_timer, "
            "got 1000000; correct the line"),
    ],
)  # fmt: skip
def test_what_it_raises_ends_the_cell_with_its_place(tmp_path: Path, mood: int, message: str) -> None:
    experiment(tmp_path, FOLDER / "moody.h", f"{{name: roce+moody, mood: {mood}}}")
    done = rogue(tmp_path, "run", "mine.yaml")
    cell = read_manifest(tmp_path / done.run).cells[0]
    lines = (FOLDER / "moody.h").read_text().splitlines()
    tired = next(number for number, line in enumerate(lines, 1) if "tired" in line)
    assert cell.failure_kind is FailureKind.CONFIGURATION
    assert str(cell.message) == message.format(tired=tired)


def test_what_cannot_be_made_or_compiled_is_a_sentence_of_the_plan(tmp_path: Path) -> None:
    experiment(tmp_path, FOLDER / "moody.h", "{name: roce+moody, mood: 1}")
    done = rogue(tmp_path, "plan", "mine.yaml")
    assert done.code == 2
    assert "moody.h: got its constructor: not today, expected a control that can be made" in done.err
    text = (tmp_path / "moody.h").read_text()
    (tmp_path / "moody.h").write_text(text.replace("++acknowledged_", "++unknown_"))
    done = rogue(tmp_path, "plan", "mine.yaml")
    line = text[: text.index("++acknowledged_")].count("\n") + 1
    assert done.code == 2
    assert f"moody.h:{line}: got 'unknown_' was not declared in this scope" in done.err


def test_a_computer_without_a_compiler_says_so(tmp_path: Path) -> None:
    experiment(tmp_path, DCQCN_COMPILED, DCQCN)
    done = rogue(tmp_path, "plan", "mine.yaml", CXX="no-such-compiler")
    assert done.code == 2
    assert "dcqcn.h: got no no-such-compiler on this computer, expected a compiler of C++20" in done.err


def test_the_kernel_testbed_refuses_it_by_name(tmp_path: Path) -> None:
    experiment(tmp_path, DCQCN_COMPILED, DCQCN)
    done = rogue(tmp_path, "plan", "mine.yaml", "--testbed", "kernel")
    assert f"the kernel testbed has no {DCQCN}" in done.out + done.err
