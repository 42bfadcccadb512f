"""Test reading of the files that experiments name."""

import os
from pathlib import Path

import pytest
from helpers.experiments import FLOWS, GOAL, LEAF_SPINE, NETWORK, NIC_PROFILE, SIZES
from pydantic_core import PydanticCustomError

from rogue.harness.data import source
from rogue.harness.data.files import READERS, files_beside, kept_files
from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source, read_source
from rogue.workloads.flow_sizes import SizesOfFile
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.topologies.nic_file import NicOfFile
from rogue.workloads.traffic.goal import GoalSchedule
from rogue.workloads.traffic.trace import TraceRows


def refusal(path: Path) -> str:
    with pytest.raises(PydanticCustomError) as caught:
        read_source(path, path.name)
    assert caught.value.context is not None
    return str(caught.value.context["got"]).replace(str(path), path.name)


def test_source_has_content_and_checksum(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"abc")
    read = read_source(tmp_path / "a.csv", "a.csv")
    assert (read.content, read.text, read.name) == (b"abc", "abc", "a.csv")
    assert read.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180
    assert read == data_source("a.csv", b"abc")


def test_unreadable_file_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(tmp_path / "none.csv") == "'No such file or directory' on opening none.csv"
    assert refusal(tmp_path) == f"'Is a directory' on opening {tmp_path.name}"
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == "'it is no regular file' on opening pipe"
    (tmp_path / "empty").touch()
    assert refusal(tmp_path / "empty") == "empty, which is empty"
    assert refusal(tmp_path / "a\0b").startswith("'embedded null byte'")
    (tmp_path / "large").write_bytes(b"12345")
    monkeypatch.setattr(source, "SIZE_BYTES_MAX", 4)
    assert refusal(tmp_path / "large") == "'it has 5 bytes' on opening large"


def test_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(10**10)  # a hole
    assert refusal(tmp_path / "huge") == "'it has 10000000000 bytes' on opening huge"


def test_invalid_utf8_has_its_line() -> None:
    with pytest.raises(PydanticCustomError) as caught:
        data_source("a.csv", b"x\ny\n\xff").text  # noqa: B018
    assert caught.value.context is not None
    assert caught.value.context["got"] == "the byte 0xff in line 3 of a.csv"


FILES = {TraceRows: FLOWS, GoalSchedule: GOAL, SizesOfFile: SIZES, LinkList: NETWORK, NicOfFile: NIC_PROFILE}
THEIRS = {
    "hpcc-flows": "1\n2 1 3 100 5 2\n",
    "hpcc-topology": "3 1 2\n2\n0 2 1Gbps 1ns 0\n1 2 1Gbps 1ns 0\n",
    "htsim-cm": "Nodes 2\nConnections 1\n0->1 start 0 size 7\n",
    "htsim-topo": LEAF_SPINE,
}
MARK = b"\xef\xbb\xbf"
GOOD = "start_ns,src,dst,size_bytes\n0,h0,h1,10\n"


def test_a_file_is_read_once_from_beside_the_experiment(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/flows.csv").write_text(GOOD)
    files = files_beside(str(tmp_path / "x.yaml"))
    rows = files.read(TraceRows, "sub/flows.csv")
    (tmp_path / "sub/flows.csv").write_text("changed")
    assert files.read(TraceRows, "sub/flows.csv") is rows
    assert [source.name for source in files.sources.values()] == ["sub/flows.csv"]


def test_run_reads_only_its_kept_files(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(GOOD)
    beside = files_beside(str(tmp_path / "x.yaml"))
    beside.read(TraceRows, "flows.csv")
    kept = kept_files(beside.sources)
    assert kept.read(TraceRows, "flows.csv") == beside.read(TraceRows, "flows.csv")
    with pytest.raises(PydanticCustomError, match="expected a file that the run keeps"):
        kept.read(TraceRows, "other.csv")


@pytest.mark.parametrize("kind", READERS)
def test_readers_refuse_other_formats(kind: type, tmp_path: Path) -> None:
    for number, junk in enumerate((b"\0", b"\xff\xfe", b"PAR1", b"a: [", b"1 2 3\n", b"{}", b"-\n-\n")):
        (tmp_path / f"{number}").write_bytes(junk)
        with pytest.raises(PydanticCustomError):
            files_beside(str(tmp_path / "x.yaml")).read(kind, f"{number}")


@pytest.mark.parametrize("kind", READERS)
def test_byte_order_mark_is_ignored(kind: type, tmp_path: Path) -> None:
    """Editors on Windows write one in front of UTF-8; a mistake still names the right line."""
    content = FILES[kind].read_bytes()
    for name, each in (("plain", content), ("marked", MARK + content), ("broken", MARK + content + b"\xff")):
        (tmp_path / name).write_bytes(each)
    files = files_beside(str(tmp_path / "x.yaml"))
    files.read(kind, "plain")
    files.read(kind, "marked")
    with pytest.raises(PydanticCustomError) as caught:
        files.read(kind, "broken")
    assert caught.value.context is not None
    line = content.count(b"\n") + 1
    assert caught.value.context["got"] == f"the byte 0xff in line {line} of broken"


@pytest.mark.parametrize("name", FORMATS)
def test_byte_order_mark_is_ignored_in_imports(name: str) -> None:
    plain, marked = (
        FORMATS[name].read(data_source("f", mark + THEIRS[name].encode())).text for mark in (b"", MARK)
    )
    assert marked == plain
