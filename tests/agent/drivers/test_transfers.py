import io

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.spool import Table
from rogue.agent.drivers.transfers import COLUMNS, TransferLog


def test_transfers_are_written_and_counted_by_status() -> None:
    file = io.StringIO()
    log = TransferLog(Table(file, COLUMNS))
    log.write(TransferRecord(1, 10, HostNs(5), HostNs(7), "ok", None, 0))
    log.write(TransferRecord(2, 10, HostNs(7), HostNs(9), "error", "IBV_WC_RETRY_EXC_ERR"))
    log.write(TransferRecord(3, 10, HostNs(9), HostNs(11), "unfinished", is_sent=False))
    assert file.getvalue().splitlines()[1:] == [
        "1,10,5,7,ok,,0,1",
        "2,10,7,9,error,IBV_WC_RETRY_EXC_ERR,,1",
        "3,10,9,,unfinished,,,0",
    ]
    assert (log.ended, log.count) == ({"ok": 1, "error": 1, "unfinished": 1}, 3)
    assert log.first_error == "IBV_WC_RETRY_EXC_ERR"
