"""The table of transfers, and how many ended in which way."""

from rogue.agent.core.application import TransferRecord
from rogue.agent.drivers.spool import Table

COLUMNS = (
    "transfer_id",
    "size_bytes",
    "start_ns",
    "end_ns",
    "status",
    "error",
    "retransmitted_bytes",
    "is_sent",
    "waited_for_role",
    "waited_for_transfer",
)


class TransferLog:
    """Writes transfers as they end; `ended` counts them by status, `first_error` is the first reason."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.ended: dict[str, int] = {"ok": 0, "error": 0, "unfinished": 0}
        self.first_error: str | None = None

    @property
    def count(self) -> int:
        """How many have ended."""
        return sum(self.ended.values())

    def write(self, record: TransferRecord) -> None:
        """Write a transfer that has ended, or that the end of the run has cut off."""
        self.ended[record.status] += 1
        if self.first_error is None:
            self.first_error = record.error
        self._table.row(
            record.transfer_id,
            record.size_bytes,
            record.start_ns,
            record.end_ns,
            record.status,
            record.error,
            record.retransmitted_bytes,
            record.is_sent,
            *(record.waited_for or (None, None)),
        )
