"""A part of switches as a plug-in: planned, run, kept and verified, and equal to the engine's own."""

import hashlib
import shutil
from pathlib import Path

import pytest
from helpers.command_line import Finished, rogue
from helpers.switch_files import SWITCHES

from rogue.harness.results.manifest import read_manifest
from rogue.workloads.records import FailureKind

STAR = """\
name: mine
plugins: [{plugin}]
topology: {{kind: star, hosts: 6, rate: 10Gbps, buffer: 9MB, switch_controls: {controls}}}
workload: {{kind: incast, senders: 4, size: 1MB, repeat_for: 5ms}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, queues]
"""
TIERS = """\
name: mine
plugins: [{plugin}]
topology: {{kind: two_tier, racks: 2, hosts_per_rack: 4, leaves: 4, rate: 10Gbps, uplink_rate: 10Gbps,
  buffer: 9MB, switch_controls: {controls}}}
workload: {{kind: permutation, size: 1MB}}
transports: [{transport}]
measure: [{{kind: throughput, interval: 50us}}, queues]
"""


def ran(folder: Path, plugin: str, controls: str, transport: str, text: str = STAR) -> Finished:
    folder.mkdir()
    shutil.copy(SWITCHES / plugin, folder)
    mine = text.format(plugin=plugin, controls=controls, transport=transport)
    (folder / "mine.yaml").write_text(mine)
    return rogue(folder, "run", "mine.yaml")


def tables(folder: Path, done: Finished) -> dict[str, bytes]:
    assert done.code == 0, done.err
    return {file.name: file.read_bytes() for file in (folder / done.run).glob("cells/*/*.parquet")}


@pytest.mark.parametrize(
    ("plugin", "control", "transport", "text"),
    [
        ("step.h", "{name: step, above: 98670B}", "dctcp", STAR),
        ("red.h", "red", "roce+pfc+dcqcn", STAR),
        ("hashed.h", "hashed", "irn+spray", TIERS),
    ],
    ids=["DCTCP's step", "DCQCN's slope", "spraying"],
)
def test_what_does_the_same_gives_the_same_tables(
    plugin: str, control: str, transport: str, text: str, tmp_path: Path
) -> None:
    own = tables(tmp_path / "own", ran(tmp_path / "own", plugin, control, transport, text))
    usual = tables(tmp_path / "usual", ran(tmp_path / "usual", plugin, "none", transport, text))
    assert own == usual
    assert {"throughput.parquet", "queues.parquet", "flows.parquet", "counters.parquet"} <= set(own)


def test_a_run_keeps_its_text_and_says_what_it_was_told(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    done = ran(folder, "codel.h", "{name: codel, target: 20us}", "dctcp")
    assert done.code == 0, done.err
    manifest = read_manifest(folder / done.run)
    text = (SWITCHES / "codel.h").read_text()
    (kept,) = manifest.plugins
    assert (kept.text, kept.sha256) == (text, hashlib.sha256(text.encode()).hexdigest())
    assert kept.adds == ["switch_control codel"]
    told = "target_ns 20000, interval_ns 100000, packet_bytes 1086"
    assert manifest.cells[0].facts["switch_control_codel"] == told
    assert rogue(folder, "verify", str(done.run)).code == 0
    resumed = rogue(folder, "run", "--resume", str(done.run))
    assert (resumed.code, "expected a person's word that this code may run" in resumed.err) == (2, True)
    planned = rogue(folder, "plan", "mine.yaml")
    assert "note: switches have codel from outside, which replaces their own marking" in planned.out


def test_what_it_raises_ends_the_cell_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    done = ran(folder, "grim.h", "{name: grim, mood: 3}", "roce")
    cell = read_manifest(folder / done.run).cells[0]
    lines = (SWITCHES / "grim.h").read_text().splitlines()
    tired = next(number for number, line in enumerate(lines, 1) if "tired" in line)
    assert cell.failure_kind is FailureKind.CONFIGURATION
    assert str(cell.message) == f"the plug-in raised at grim.h:{tired}: on_arrival: tired; correct the line"


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ("codell", "got the switch control codell, expected one of codel; write codel if that is meant"),
        ("{name: codel, target: 20}", "got 20, expected a time with a unit, such as 50us"),
        ("{name: codel, target: 20s}", "expected from 1ns to 1000000000ns; correct the value"),
        ("{name: codel, goal: 20us}", "expected one of the parameters target, interval, packet of codel"),
    ],
)
def test_what_cannot_be_is_a_sentence_with_its_line(controls: str, words: str, tmp_path: Path) -> None:
    done = ran(tmp_path / "mine", "codel.h", controls, "dctcp")
    assert done.code == 2
    assert "mine.yaml:3: topology.switch_controls" in done.err
    assert words in done.err
