import csv
import io
from pathlib import Path

from rogue.agent.drivers.spool import LateTable, Spool, Table, Value


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


class FullDisk(io.BytesIO):
    def close(self) -> None:
        raise OSError(28, "No space left on device")


def test_closing_goes_on_when_the_disk_is_full(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "mover")
    last = spool.file("log", "txt")
    spool._files.insert(0, FullDisk())  # type: ignore[arg-type]
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


def test_a_late_table_is_byte_equal_to_one_that_is_written_at_once(tmp_path: Path) -> None:
    """More rows than are kept at once, of every kind of value, some of which change after they were told."""
    spool = Spool(tmp_path, "mover")
    tables = [spool.table("now", ("t_ns", "a")), spool.late_table("late", ("t_ns", "a"))]
    for table in tables:
        values: dict[str, Value] = {}
        for t_ns in range(300):
            values.update({"rtt": t_ns / 7, "is_starting": t_ns % 2 == 0, "x,y": None})
            table.named(t_ns, values)
            table.row(t_ns, None, True, "accepted", 1e22, -0.0)
    spool.flush()
    now, late = (spool.paths[name].read_text() for name in ("now", "late"))
    assert now == late
    tables[1].row(300, "after a flush")
    spool.close()
    assert spool.paths["late"].read_text() == now + "300,after a flush\n"


def test_nothing_of_a_late_table_is_written_before_it_is_flushed(tmp_path: Path) -> None:
    file = io.StringIO()
    table = LateTable(file, ("t_ns",), io.BytesIO())
    table.row(1)
    assert file.getvalue() == "t_ns\n"
    table.write()
    assert file.getvalue() == "t_ns\n1\n"


def test_closing_late_tables_goes_on_when_the_disk_is_full(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "mover")
    table = spool.late_table("rtt", ("t_ns",))
    assert isinstance(table, LateTable)
    table._kept.close()
    table._kept = FullDisk()  # type: ignore[assignment]
    last = spool.late_table("limiter", ("t_ns",))
    last.row(5)
    spool.close()
    assert spool.paths["limiter"].read_text() == "t_ns\n5\n"
