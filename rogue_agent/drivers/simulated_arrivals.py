"""When transfers arrive at the other end of a simulated path."""

from collections.abc import Callable, Sequence
from functools import partial

from rogue.agent.core.application import TransferRecord
from rogue.agent.core.clocks import HostNs
from rogue.agent.drivers.simulated_nic import NicQueuePair


class Arrivals:
    """Tells when all of a transfer is in the receiver's memory, where its software looks.

    Verbs of a queue pair arrive in the order of their posting, so that the last one of a transfer has come
    when all that was posted until then has. What a lost queue pair did not bring is posted again on another.
    """

    def __init__(self, records: Sequence[TransferRecord], on_arrival: Callable[[int, HostNs], None]) -> None:
        self._records = records
        self._on_arrival = on_arrival
        self._posted_bytes: dict[int, int] = {}

    def on_posted(self, end: NicQueuePair, length_bytes: int, transfer_id: int, end_bytes: int) -> None:
        """A verb was posted that reaches to `end_bytes` of its transfer."""
        posted_bytes = self._posted_bytes.get(end.qp_num, 0) + length_bytes
        self._posted_bytes[end.qp_num] = posted_bytes
        if transfer_id > 0 and end_bytes == self._records[transfer_id - 1].size_bytes:
            end.call_when_delivered(posted_bytes, partial(self._on_delivered, transfer_id))

    def on_ready(self, end: NicQueuePair) -> None:
        """A queue pair was reset: what had been posted and not delivered will not be."""
        self._posted_bytes[end.qp_num] = end.delivered_bytes

    def on_done(self, transfer_id: int, now: HostNs) -> None:
        """A transfer is done, so that it has arrived, if only now: a READ's bytes come to its initiator."""
        if self._records[transfer_id - 1].arrived_ns is None:
            self._on_delivered(transfer_id, now)

    def _on_delivered(self, transfer_id: int, host_ns: int) -> None:
        record = self._records[transfer_id - 1]
        if record.arrived_ns is None:
            record.arrived_ns = HostNs(host_ns)
            self._on_arrival(transfer_id, HostNs(host_ns))
