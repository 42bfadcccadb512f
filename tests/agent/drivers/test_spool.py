import csv
import io
from pathlib import Path

from rogue.agent.drivers.spool import Spool, Table


def test_a_row_stands_under_its_columns(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "mover")
    spool.table("rtt", ("t_ns", "rtt_ns", "accepted")).row(5, 2.5, True)
    spool.flush()
    assert spool.paths == {"rtt": tmp_path / "mover-rtt.csv"}
    assert spool.paths["rtt"].read_text() == "t_ns,rtt_ns,accepted\n5,2.5,1\n"
    spool.close()


def test_nothing_leaves_its_field_empty_and_a_text_cannot_break_the_row() -> None:
    file = io.StringIO()
    Table(file, ("a", "b")).row(None, 'x,y\n"z"')
    assert list(csv.reader(io.StringIO(file.getvalue()))) == [["a", "b"], ["", 'x,y\n"z"']]


class FullDisk(io.StringIO):
    def close(self) -> None:
        raise OSError(28, "No space left on device")


def test_closing_goes_on_when_the_disk_is_full(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "mover")
    last = spool.file("log", "txt")
    spool._files.insert(0, FullDisk())
    spool.close()
    assert last.closed


def test_named_values_of_one_instant_are_a_row_each_as_single_rows_are() -> None:
    values = {"cwnd_packets": 2.5, "is_starting": True, "base_rtt_ns": None}
    together, one_by_one = io.StringIO(), io.StringIO()
    Table(together, ("t_ns", "name", "value")).named(7, values)
    table = Table(one_by_one, ("t_ns", "name", "value"))
    for name, value in values.items():
        table.row(7, name, value)
    assert together.getvalue() == one_by_one.getvalue()
    assert together.getvalue().splitlines()[1:] == ["7,cwnd_packets,2.5", "7,is_starting,1", "7,base_rtt_ns,"]
