"""Files that an experiment names."""

from pathlib import Path

import pytest
from pydantic_core import PydanticCustomError

from rogue.harness.data.files import READERS, files_beside, kept_files
from rogue.workloads.traffic.trace_rows import TraceRows

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
