"""Test traces in CSV and Parquet."""

import io
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from helpers.experiments import refusal as refusal_of
from helpers.experiments import trace_rows
from pyarrow import parquet
from pydantic_core import PydanticCustomError

from rogue.harness.data import trace as columns
from rogue.harness.data.source import data_source
from rogue.harness.data.trace import COLUMNS, read_columns, read_trace

ROOT = Path(__file__).parents[3]


def test_long_columns_are_encoded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_ROWS_AT_ONCE", 2)
    table = read_columns(data_source("t.csv", b"a\nx\ny\nz\nx\ny\n"), ("a",))
    words, codes = table.words("a")
    assert (words, codes.tolist()) == (("x", "y", "z"), [0, 1, 2, 0, 1])
    table = read_columns(data_source("t.csv", b'a\nx\ny\nz\n""\n'), ("a",))
    with pytest.raises(PydanticCustomError) as caught:
        table.words("a")
    assert (caught.value.context or {})["got"] == "nothing in line 5, column a of t.csv"


FORK_TWICE = """
import os
from pathlib import Path
from helpers.experiments import trace_rows
from rogue.agent.node.processes import close_all_but
trace_rows("start_ns,src,dst,size_bytes\\n0,h0,h1,5\\n")
if (child := os.fork()) == 0:
    close_all_but({0, 1, 2})
    if (grandchild := os.fork()) == 0:
        os._exit(0)
    os._exit(abs(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1])))
raise SystemExit(abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""


def test_process_can_fork_twice_after_reading_a_file() -> None:
    """As the agent does: with Arrow's own pipe for signals the second fork is ended."""
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", FORK_TWICE], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize("error", [MemoryError(), OSError(""), ValueError("\n")])
def test_error_without_a_message_is_reported(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(parquet, "ParquetFile", fail)
    with pytest.raises(PydanticCustomError, match="Parquet that is whole") as refusal:
        read_columns(data_source("t.parquet", b"PAR1"), ("a",))
    assert (refusal.value.context or {})["got"] == f"t.parquet ({type(error).__name__})"


HEAD = "start_ns,src,dst,size_bytes\n"
refusal = partial(refusal_of, read_trace, "f.csv")
GOOD = HEAD + "0,h0,h1,10\n"


@pytest.mark.parametrize(
    ("unit", "starts"),
    [
        ("ns", ("0", "2000000001")),
        ("us", ("0", "2000000.001")),
        ("ms", ("0.0", "2000.000001")),
        ("s", ("0", "2.000000001")),
    ],
)
def test_start_column_has_its_unit_in_the_name(unit: str, starts: tuple[str, str]) -> None:
    rows = trace_rows(f"start_{unit},src,dst,size_bytes\n{starts[0]},h0,h1,1\n{starts[1]},h0,h1,1\n")
    assert rows.starts_ns.tolist() == [0, 2_000_000_001]


def test_columns_in_any_order_with_quotes_and_spaces() -> None:
    rows = trace_rows('\ufeff"dst", size_bytes ,src,start_ns\r\n"h1",10,h0,7\r\n\r\n')
    assert [tuple(row) for row in rows.rows(slice(0, 1))] == [(7, "h0", "h1", 10, None)]


@pytest.mark.parametrize("separator", [";", "\t", " ;", ",\t"])
def test_columns_may_have_another_separator(separator: str) -> None:
    text = "start_us,src,dst,size_bytes,group\n0,h0,h1,5,web\n1.5,h1,h0,6,web\n"
    assert trace_rows(text.replace(",", separator)).starts_ns.tolist() == [0, 1500]


def test_decimal_comma_is_an_error() -> None:
    text = "start_us;src;dst;size_bytes\n0;h0;h1;5\n1,5;h1;h0;6\n"
    assert refusal(text).startswith("1,5 in line 3, column start_us of f.csv, expected a number")


def test_spaces_around_values_are_ignored() -> None:
    rows = trace_rows("start_ns, src, dst, size_bytes, group\n0, h0,\th1 , 5 , web\n 7, h1, h0, 6, web\n")
    assert [tuple(row) for row in rows.rows(slice(0, 2))] == [
        (0, "h0", "h1", 5, "web"),
        (7, "h1", "h0", 6, "web"),
    ]
    assert refusal(GOOD + "0, h0, h1,  \n").startswith("nothing in line 3, column size_bytes of f.csv")
    assert refusal(GOOD + "0,  , h1, 5\n").startswith("nothing in line 3, column src of f.csv")


BAD = {
    "0,h0,h1,0": "0 in line 3, column size_bytes of f.csv, expected a whole number of bytes from 1 to",
    "0,h0,h1,1.5": "1.5 in line 3, column size_bytes of f.csv",
    "0,h0,h1,nan": "nan in line 3, column size_bytes of f.csv",
    "0,h0,h1,1e14": "1e14 in line 3, column size_bytes of f.csv",
    "0,h0,h1,": "nothing in line 3, column size_bytes of f.csv",
    "nan,h0,h1,1": "nan in line 3, column start_ns of f.csv, expected a number from 0",
    "-1,h0,h1,1": "-1 in line 3, column start_ns of f.csv",
    "1e16,h0,h1,1": "1e16 in line 3, column start_ns of f.csv",
    "0,h1,h1,1": "h1 in line 3, column dst of f.csv, expected another host than src has",
    "0,10.0.0.1,h1,1": "10.0.0.1 in line 3, column src of f.csv, expected a host, such as h0",
    "0,h01,h1,1": "h01 in line 3, column src",
    "0,h0,,1": "nothing in line 3, column dst of f.csv, expected a name",
    "0,h0,h1": "3 values in line 3 of f.csv, expected 4, as in line 1",
    "\n0,h0,h1,1": "nothing in line 3, column start_ns of f.csv, expected a number from 0",
    "0,h0,h1,\x1b[31m": "\ufffd[31m in line 3, column size_bytes",
    "0,h0,h1," + "9" * 99: "9999999999999999999999999999999999999... in line 3, column size_bytes",
}


@pytest.mark.parametrize("line", BAD)
def test_wrong_line_names_line_and_column(line: str) -> None:
    assert refusal(f"{GOOD}{line}\n0,h0,h1,3\n").startswith(BAD[line])


def test_first_wrong_line_is_reported() -> None:
    lines = ["0,h0,h1,10"] * 5000
    lines[3210] = lines[4000] = "0,h0,h1,ten"
    assert refusal(HEAD + "\n".join(lines)).startswith("ten in line 3212, column size_bytes")


def test_starts_that_fall_are_refused() -> None:
    wrong = "start_us,src,dst,size_bytes\n1,h0,h1,1\n20,h0,h1,1\n3,h0,h1,1\n2,h0,h1,1\n"
    assert refusal(wrong).startswith(
        "3 after 20 in line 4, column start_us of f.csv, expected rows in the order"
    )


HEADS = {
    "start,src,dst,size_bytes": "the column 'start' in line 1 of f.csv, expected columns among start_ns,",
    "start_ns,src,dst": "no column size_bytes in line 1 of f.csv, expected the columns start_ns, src,",
    "src,dst,size_bytes": "no start in line 1 of f.csv, expected one of the columns start_ns, start_us",
    "start_ns,start_us,src,dst,size_bytes": "start_ns and start_us in line 1 of f.csv",
    "start_ns,src,src,dst,size_bytes": "the column src twice in f.csv, expected each column once",
}


@pytest.mark.parametrize("head", HEADS)
def test_wrong_column_is_an_error(head: str) -> None:
    row = ",".join("0" for _ in head.split(","))
    assert refusal(f"{head}\n{row}\n").startswith(HEADS[head])


def test_a_trace_without_rows_is_refused() -> None:
    for head in (HEAD, HEAD.strip(), HEAD + "\n\n"):
        assert refusal(head) == "f.csv without any, expected rows below the names of the columns; add some"


def test_group_names_are_restricted() -> None:
    head = "start_ns,src,dst,size_bytes,group\n0,h0,h1,1,web\n"
    assert refusal(head + "0,h0,h1,1,a/b\n").startswith(
        "a/b in line 3, column group of f.csv, expected letters"
    )
    rows = trace_rows(head + "1,h0,h1,1,db\n")
    assert [row.group for row in rows.rows(slice(0, 2))] == ["web", "db"]


def parquet_of(**named: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(named), stream)
    return stream.getvalue()


def test_parquet_equals_csv() -> None:
    content = parquet_of(
        start_ns=[0, 5],
        src=pa.array(["h0", "h2"]).dictionary_encode(),
        dst=["h1", "h1"],
        size_bytes=pa.array([10, 20], pa.int32()),
        group=["a", "b"],
    )
    rows = read_trace(data_source("f.parquet", content))
    assert [tuple(row) for row in rows.rows(slice(0, 2))] == [
        (0, "h0", "h1", 10, "a"),
        (5, "h2", "h1", 20, "b"),
    ]


def test_wrong_row_of_parquet_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    content = parquet_of(start_ns=[0, 5], src=["h0", "h0"], dst=["h1", "h1"], size_bytes=[1, None])
    assert refusal(content).startswith("nothing in line 2, column size_bytes")
    content = parquet_of(start_ns=[0], src=[["h0"]], dst=["h1"], size_bytes=[1])
    nested = "list<element: string> in column src of f.csv, expected a number or a name; correct the file"
    assert refusal(content) == nested
    content = parquet_of(start_ns=[0], src=["h0"], dst=["h1"], size_bytes=[1])
    assert refusal(content[:-40]).startswith("f.csv (")
    monkeypatch.setattr(columns, "ROWS_MAX", 0)
    assert refusal(content) == "1 rows in f.csv, expected at most 0; take a part of it"


def test_invalid_utf8_in_parquet_is_an_error() -> None:
    content = parquet_of(start_ns=[0], src=["hXYZ"], dst=["h1"], size_bytes=[1]).replace(
        b"XYZ", b"\xff\xff\xff"
    )
    assert "UTF8" in refusal(content)
    assert refusal(content).endswith("expected Parquet that is whole; write the file again")


def test_unknown_parquet_columns_are_not_read() -> None:
    content = parquet_of(start_ns=[0], src=["h0"], dst=["h1"], size_bytes=[1], note=["n" * 2000])
    place = content.index(b"n" * 99)
    broken = content[:4] + b"\xff" * place + content[4 + place :]
    for each in (content, broken):
        assert refusal(each).startswith(
            "the column 'note' in line 1 of f.csv, expected columns among start_ns"
        )


def test_repeated_parquet_text_stays_dictionary_encoded() -> None:
    """Decoded it would be forty times what the file's pages are."""
    rows = 50_000
    same = {"start_ns": [0] * rows, "dst": ["h1"] * rows, "size_bytes": [1] * rows}
    name = "g" * 100
    before = pa.total_allocated_bytes()
    table = read_columns(
        data_source("f.parquet", parquet_of(src=["h0"] * rows, group=[name] * rows, **same)), COLUMNS
    )
    assert table.columns["group"][0].as_py() == name
    assert pa.total_allocated_bytes() - before < rows * len(name) / 2
