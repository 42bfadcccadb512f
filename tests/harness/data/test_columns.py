"""Columns of a table; what is wrong in one is told through its readers' tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet
from pydantic_core import PydanticCustomError

from rogue.harness.data import trace as columns
from rogue.harness.data.source import data_source
from rogue.harness.data.trace import read_columns

ROOT = Path(__file__).parents[3]
TABLE = read_columns(data_source("t.csv", b"a,b\n1,x\n2.5,y\n3,x\n"), ("a", "b"))


def test_numbers_and_words() -> None:
    assert TABLE.numbers("a", "").tolist() == [1, 2.5, 3]
    words, codes = TABLE.words("b")
    assert (words, codes.tolist()) == (("x", "y"), [0, 1, 0])


def test_words_of_many_rows_are_coded_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_ROWS_AT_ONCE", 2)
    table = read_columns(data_source("t.csv", b"a\nx\ny\nz\nx\ny\n"), ("a",))
    words, codes = table.words("a")
    assert (words, codes.tolist()) == (("x", "y", "z"), [0, 1, 2, 0, 1])
    table = read_columns(data_source("t.csv", b'a\nx\ny\nz\n""\n'), ("a",))
    with pytest.raises(PydanticCustomError) as caught:
        table.words("a")
    assert (caught.value.context or {})["got"] == "nothing in line 5, column a of t.csv"


def test_whole_numbers_are_whole_and_within_bounds() -> None:
    with pytest.raises(PydanticCustomError, match="expected a whole number"):
        TABLE.whole("a", "a whole number", 0, 9)
    table = read_columns(data_source("t.csv", b"a\n1\n2e3\n"), ("a",))
    assert table.whole("a", "", 1, 2000).tolist() == [1, 2000]
    for least, most in ((2, 2000), (1, 1999)):
        with pytest.raises(PydanticCustomError):
            table.whole("a", "", least, most)


def test_a_place_is_a_line_of_the_file() -> None:
    wrong = TABLE.wrong(1, "b", "something else")
    assert wrong.context is not None
    assert wrong.context["got"] == "y in line 3, column b of t.csv"


FORK_TWICE = """
import os
from pathlib import Path
from helpers.experiments import trace_rows
from rogue.agent.node.forked import close_all_but
trace_rows("start_ns,src,dst,size_bytes\\n0,h0,h1,5\\n")
if (child := os.fork()) == 0:
    close_all_but({0, 1, 2})
    if (grandchild := os.fork()) == 0:
        os._exit(0)
    os._exit(abs(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1])))
raise SystemExit(abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
"""


def test_who_has_read_a_file_may_fork_and_let_the_fork_fork() -> None:
    """As the agent does: with Arrow's own pipe for signals the second fork is ended."""
    path = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", FORK_TWICE], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize("error", [MemoryError(), OSError(""), ValueError("\n")])
def test_an_error_without_words_is_told(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(parquet, "ParquetFile", fail)
    with pytest.raises(PydanticCustomError, match="Parquet that is whole") as told:
        read_columns(data_source("t.parquet", b"PAR1"), ("a",))
    assert (told.value.context or {})["got"] == f"t.parquet ({type(error).__name__})"
