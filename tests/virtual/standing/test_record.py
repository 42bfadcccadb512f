import json
from pathlib import Path

import pytest

from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.network import network
from rogue.virtual.persistent.directory import Record, read_record, write_record

RECORD = Record(
    network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")]),
    Accelerator.TCG,
    {"fabric": 2200, "h0": 2201, "h1": 2202},
)


def test_it_reads_back_as_written(tmp_path: Path) -> None:
    write_record(tmp_path / "testbed.json", RECORD)
    assert read_record(tmp_path / "testbed.json") == RECORD
    assert [path.name for path in tmp_path.iterdir()] == ["testbed.json"]


def test_a_testbed_without_a_record_is_not_up(tmp_path: Path) -> None:
    assert read_record(tmp_path / "testbed.json") is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', '{"format": 1, "cables": 3}'])
def test_a_damaged_record_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "testbed.json").write_text(text)
    assert read_record(tmp_path / "testbed.json") is None


def test_a_record_of_another_version_counts_as_none(tmp_path: Path) -> None:
    write_record(tmp_path / "testbed.json", RECORD)
    content = json.loads((tmp_path / "testbed.json").read_text())
    (tmp_path / "testbed.json").write_text(json.dumps({**content, "format": 2}))
    assert read_record(tmp_path / "testbed.json") is None
