"""Tests: write the tables of a run on the node: transfers, throughput and logs."""

import csv
import io
from pathlib import Path

import pytest

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.recording import (
    THROUGHPUT_COLUMNS,
    TRANSFER_COLUMNS,
    Spool,
    Table,
    ThroughputMeter,
    TransferLog,
)


def test_a_row_has_its_columns(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "mover")
    spool.table("rtt", ("t_ns", "rtt_ns", "accepted")).row(5, 2.5, True)
    spool.flush()
    assert spool.paths == {"rtt": tmp_path / "mover-rtt.csv"}
    assert spool.paths["rtt"].read_text() == "t_ns,rtt_ns,accepted\n5,2.5,1\n"
    spool.close()


def test_none_is_an_empty_field_and_text_is_quoted() -> None:
    file = io.StringIO()
    Table(file, ("a", "b")).row(None, 'x,y\n"z"')
    assert list(csv.reader(io.StringIO(file.getvalue()))) == [["a", "b"], ["", 'x,y\n"z"']]


class FullDisk(io.BytesIO):
    def close(self) -> None:
        raise OSError(28, "No space left on device")


def test_close_continues_on_a_full_disk(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "mover")
    last = spool.file("log", "txt")
    spool._files.insert(0, FullDisk())  # type: ignore[arg-type]
    full = spool.late(lambda: None)
    full._kept.close()
    full._kept = FullDisk()
    spool.late(spool.table("limiter", ("t_ns",)).row)(5)
    spool.close()
    assert last.closed
    assert spool.paths["limiter"].read_text() == "t_ns\n5\n"


def test_named_values_are_a_row_each() -> None:
    values = {"cwnd_packets": 2.5, "is_starting": True, "base_rtt_ns": None}
    together, one_by_one = io.StringIO(), io.StringIO()
    Table(together, ("t_ns", "name", "value")).named(7, values)
    table = Table(one_by_one, ("t_ns", "name", "value"))
    for name, value in values.items():
        table.row(7, name, value)
    assert together.getvalue() == one_by_one.getvalue()
    assert together.getvalue().splitlines()[1:] == ["7,cwnd_packets,2.5", "7,is_starting,1", "7,base_rtt_ns,"]


def test_deferred_calls_run_in_order_at_a_flush(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "mover")
    made: list[object] = []
    late = spool.late(lambda *arguments: made.append(arguments))
    for number in range(600):
        late(number, {"cwnd_packets": number / 3})
    assert not made
    spool.flush()
    assert made == [(number, {"cwnd_packets": number / 3}) for number in range(600)]
    late("after a flush")
    spool.close()
    assert made[600:] == [("after a flush",)]


def test_a_failed_call_does_not_affect_other_files(tmp_path: Path) -> None:
    """A role that is cut off after this has no other chance to write them."""
    spool = Spool(tmp_path, "mover")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    spool.late(fail)(1)
    spool.late(spool.table("limiter", ("t_ns",)).row)(5)
    spool.table("rtt", ("t_ns",)).row(7)
    with pytest.raises(OSError, match="No space"):
        spool.flush()
    assert spool.paths["limiter"].read_text() == "t_ns\n5\n"
    assert spool.paths["rtt"].read_text() == "t_ns\n7\n"
    spool.close()


def test_no_call_runs_after_a_failed_one_or_twice(tmp_path: Path) -> None:
    spool, made = Spool(tmp_path, "mover"), list[int]()

    def make(number: int) -> None:
        if number == 300:
            raise OSError(28, "No space left on device")
        made.append(number)

    late = spool.late(make)
    for number in range(600):
        late(number)
    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            spool.flush()
    spool.close()
    assert made == list(range(300))


def metered() -> tuple[ThroughputMeter, io.StringIO]:
    file = io.StringIO()
    return ThroughputMeter(Table(file, THROUGHPUT_COLUMNS), 100), file


def rows(file: io.StringIO) -> list[str]:
    return file.getvalue().splitlines()[1:]


def test_bytes_count_in_the_interval_in_which_they_arrive() -> None:
    meter, file = metered()
    meter.start(HostNs(1_000))
    meter.add(HostNs(1_050), 10)
    meter.add(HostNs(1_099), 5)
    meter.add(HostNs(1_100), 7)
    meter.close(HostNs(1_200))
    assert rows(file) == ["1100,100,15,,", "1200,100,7,,"]


def test_an_interval_without_arrivals_is_a_row() -> None:
    meter, file = metered()
    meter.start(HostNs(0))
    meter.add(HostNs(350), 1)
    meter.close(HostNs(399))
    assert rows(file) == ["100,100,0,,", "200,100,0,,", "300,100,0,,", "399,99,1,,"]


def test_a_first_interval_of_another_length_leads_to_the_common_grid() -> None:
    file = io.StringIO()
    meter = ThroughputMeter(Table(file, THROUGHPUT_COLUMNS), 100, first_ns=30)
    meter.start(HostNs(1_070))
    meter.add(HostNs(1_090), 10)
    meter.add(HostNs(1_150), 5)
    meter.close(HostNs(1_200))
    meter.close(HostNs(1_250))
    assert rows(file) == ["1100,30,10,,", "1200,100,5,,"]


def test_estimates_are_averaged_and_the_limit_is_the_one_at_the_end() -> None:
    meter, file = metered()
    meter.start(HostNs(0))
    meter.limit(HostNs(10), 400)
    meter.estimate(HostNs(20), 10.0)
    meter.estimate(HostNs(30), 20.0)
    meter.limit(HostNs(150), 800)
    meter.close(HostNs(200))
    assert rows(file) == ["100,100,0,15.0,400", "200,100,0,,800"]


def test_before_the_start_bytes_are_only_added_up() -> None:
    meter, file = metered()
    meter.add(HostNs(5), 10)
    meter.close(HostNs(10_000))
    assert (meter.total_bytes, rows(file)) == (10, [])


def test_transfers_are_written_and_counted_by_status() -> None:
    file = io.StringIO()
    log = TransferLog(Table(file, TRANSFER_COLUMNS))
    log.write(TransferRecord(1, 10, HostNs(5), HostNs(7), "ok", None, 0))
    log.write(TransferRecord(2, 10, HostNs(7), HostNs(9), "error", "IBV_WC_RETRY_EXC_ERR"))
    log.write(TransferRecord(3, 10, HostNs(9), None, "unfinished", is_sent=False))
    log.write(TransferRecord(4, 10, HostNs(9), HostNs(11), "ok", waited_for=("flow0-responder", 2)))
    assert file.getvalue().splitlines()[1:] == [
        "1,10,5,7,ok,,0,1,,",
        "2,10,7,9,error,IBV_WC_RETRY_EXC_ERR,,1,,",
        "3,10,9,,unfinished,,,0,,",
        "4,10,9,11,ok,,,1,flow0-responder,2",
    ]
    assert (log.ended, log.count) == ({"ok": 2, "error": 1, "unfinished": 1}, 4)
    assert log.first_error == "IBV_WC_RETRY_EXC_ERR"
