import io

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.recording import TRANSFER_COLUMNS, Table, TransferLog


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
