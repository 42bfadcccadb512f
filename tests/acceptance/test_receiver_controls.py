"""A control of receivers as a plug-in: planned, run and kept, and equal to the engine's own."""

import hashlib
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from helpers.command_line import Finished, rogue
from helpers.receiver_files import RECEIVERS
from pyarrow import parquet

from rogue.harness.results.manifest import read_manifest
from rogue.workloads.records import FailureKind

MINE = """\
name: mine
plugins: [{plugin}]
topology: {{kind: fat_tree, k: 4, rate: 100Gbps, mtu: 4096, framing: uec, buffer: 9MB, trim_above: 100KB}}
workload: {{kind: {workload}, size: 400KB}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, queues]
"""


def ran(folder: Path, plugin: str, transport: str, workload: str = "permutation") -> Finished:
    folder.mkdir()
    shutil.copy(RECEIVERS / plugin, folder)
    (folder / "mine.yaml").write_text(MINE.format(plugin=plugin, workload=workload, transport=transport))
    return rogue(folder, "run", "mine.yaml")


def tables(folder: Path, done: Finished) -> dict[str, bytes]:
    assert done.code == 0, done.err
    return {file.name: file.read_bytes() for file in (folder / done.run).glob("cells/*/*.parquet")}


def without_names(flows: bytes) -> pa.Table:
    """What became of flows, without the name of their transport."""
    return parquet.read_table(pa.BufferReader(flows)).drop_columns(["transport"])


@pytest.mark.parametrize("workload", ["permutation", "incast, senders: 15"])
def test_what_does_the_same_gives_the_same_tables(workload: str, tmp_path: Path) -> None:
    own = tables(tmp_path / "own", ran(tmp_path / "own", "rccc.h", "uet+rccc_outside", workload))
    usual = tables(tmp_path / "usual", ran(tmp_path / "usual", "rccc.h", "uet+rccc", workload))
    assert without_names(own.pop("flows.parquet")) == without_names(usual.pop("flows.parquet"))
    assert own == usual
    assert {"throughput.parquet", "queues.parquet", "counters.parquet"} <= set(own)


def test_a_run_keeps_its_text_and_says_what_it_was_told(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    done = ran(folder, "ndp.h", "{name: uet+ndp, nscc: 0, keeps_first_credit: 1, share: 0.95}")
    assert done.code == 0, done.err
    manifest = read_manifest(folder / done.run)
    (kept,) = manifest.plugins
    assert kept.sha256 == hashlib.sha256((RECEIVERS / "ndp.h").read_bytes()).hexdigest()
    assert kept.adds == ["receiver_control ndp"]
    assert manifest.cells[0].facts["receiver_control_ndp"] == "share 0.95"
    assert rogue(folder, "verify", str(done.run)).code == 0
    planned = rogue(folder, "plan", "mine.yaml")
    assert "note: uet+ndp has a control of receivers from outside the engine" in planned.out


def test_what_it_raises_ends_the_cell_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    done = ran(folder, "grim.h", "{name: uet+grim_grants, mood: 3}")
    cell = read_manifest(folder / done.run).cells[0]
    lines = (RECEIVERS / "grim.h").read_text().splitlines()
    tired = next(number for number, line in enumerate(lines, 1) if "tired" in line)
    assert cell.failure_kind is FailureKind.CONFIGURATION
    assert str(cell.message) == f"the plug-in raised at grim.h:{tired}: on_arrival: tired; correct the line"


@pytest.mark.parametrize(
    ("transport", "words"),
    [
        ("uet+ndpp", "expected uet or uet with +rccc, +ndp"),
        ("uet+rccc+ndp", "expected at most one of rccc, ndp"),
        ("roce+ndp", "expected roce or roce with"),
        ("{name: uet+ndp, share: 2}", "got 2, expected from 0.01 to 1"),
        ("{name: uet+ndp, credit_rate: 0.9}", "credit_rate"),
    ],
)
def test_what_cannot_be_is_a_sentence_with_its_line(transport: str, words: str, tmp_path: Path) -> None:
    done = ran(tmp_path / "mine", "ndp.h", transport)
    assert done.code == 2
    assert "mine.yaml:5: transports" in done.err
    assert words in done.err
