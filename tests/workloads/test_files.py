"""Keys that name a file."""

import pytest
from helpers.experiments import FLOWS, trace_rows
from pydantic import ValidationError

from rogue.harness.data.files import files_beside
from rogue.workloads.files import DataFile
from rogue.workloads.traffic.trace import Trace


def validated(file: object, context: object = None) -> Trace:
    return Trace.model_validate({"kind": "trace", "file": file}, context=context)


def test_a_name_is_read_by_whoever_validates() -> None:
    trace = validated(FLOWS.name, files_beside(str(FLOWS)))
    assert len(trace.file) == 5
    assert trace.model_dump()["file"] == FLOWS.name


def test_what_was_read_already_is_taken_as_it_is() -> None:
    rows = trace_rows(FLOWS.read_text())
    assert validated(rows).file is rows


def test_without_anybody_who_reads_there_is_no_file() -> None:
    with pytest.raises(ValidationError, match="expected no file of data here"):
        validated(FLOWS.name)


@pytest.mark.parametrize("value", ["", 3, None, ["flows.csv"]])
def test_what_is_no_name_is_a_mistake(value: object) -> None:
    with pytest.raises(ValidationError, match="expected the name of a CSV or Parquet file"):
        validated(value, files_beside(str(FLOWS)))


def test_files_are_equal_by_name_and_content() -> None:
    assert trace_rows("start_ns,src,dst,size_bytes\n0,h0,h1,1\n") == trace_rows(
        "start_ns,src,dst,size_bytes\n0,h0,h1,1\n"
    )
    assert DataFile("a.csv", "1") != DataFile("a.csv", "2")
