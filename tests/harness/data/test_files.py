"""Files that an experiment names."""

from pathlib import Path

import pytest
from helpers.experiments import FLOWS, GOAL, LEAF_SPINE, NETWORK, SIZES
from pydantic_core import PydanticCustomError

from rogue.harness.data.files import READERS, files_beside, kept_files
from rogue.harness.data.formats import FORMATS
from rogue.harness.data.source import data_source
from rogue.workloads.flow_sizes import SizesOfFile
from rogue.workloads.topologies.link_file import LinkList
from rogue.workloads.traffic.goal import GoalSchedule
from rogue.workloads.traffic.trace import TraceRows

FILES = {TraceRows: FLOWS, GoalSchedule: GOAL, SizesOfFile: SIZES, LinkList: NETWORK}
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


def test_a_run_has_the_files_that_it_keeps_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text(GOOD)
    beside = files_beside(str(tmp_path / "x.yaml"))
    beside.read(TraceRows, "flows.csv")
    kept = kept_files(beside.sources)
    assert kept.read(TraceRows, "flows.csv") == beside.read(TraceRows, "flows.csv")
    with pytest.raises(PydanticCustomError, match="expected a file that the run keeps"):
        kept.read(TraceRows, "other.csv")


@pytest.mark.parametrize("kind", READERS)
def test_every_reader_refuses_nonsense_with_a_mistake(kind: type, tmp_path: Path) -> None:
    for number, junk in enumerate((b"\0", b"\xff\xfe", b"PAR1", b"a: [", b"1 2 3\n", b"{}", b"-\n-\n")):
        (tmp_path / f"{number}").write_bytes(junk)
        with pytest.raises(PydanticCustomError):
            files_beside(str(tmp_path / "x.yaml")).read(kind, f"{number}")


@pytest.mark.parametrize("kind", READERS)
def test_a_byte_order_mark_changes_no_file(kind: type, tmp_path: Path) -> None:
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
def test_a_byte_order_mark_changes_no_file_of_another_simulator(name: str) -> None:
    plain, marked = (
        FORMATS[name].read(data_source("f", mark + THEIRS[name].encode())).text for mark in (b"", MARK)
    )
    assert marked == plain
