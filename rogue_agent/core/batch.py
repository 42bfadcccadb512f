"""A batch: the verbs covered by one signal, the unit of the window and of RTT samples."""

from rogue.agent.core.actions import PostSend
from rogue.agent.core.clocks import NicNs

NO_EPOCH = -1
"""Epoch of a batch whose sample may not count."""


class Batch:
    """Verbs in posting order; only the last one is signalled, and its completion completes them all.

    Known when the batch is assembled: `sends`, `wr_id` of the signalled one, `payload_bytes`, `wire_bytes`,
    `last_packet_wire_bytes`, and `ended_transfers`, (id, size) of the transfers whose last byte is in here.
    `receipts` counts its verbs that take a receive from the peer.
    Known once it is posted: `enqueued_ns`, the NIC's clock just before the first verb was posted;
    `rate_bps`, the rate in force then; `is_anchored`, whether the limiter was settled and nothing was
    before the batch in the queue pair; `epoch`, the limiter setting that a sample can be attributed to.
    `is_followed` says whether another batch was posted before this one completed.
    Only over UC: `number`, which the peer's library repeats, and `signaled_before_ns`, when the last byte of
    the batch before had left the NIC, None until that is known.
    """

    number: int
    signaled_before_ns: NicNs | None

    __slots__ = (
        "ended_transfers",
        "enqueued_ns",
        "epoch",
        "is_anchored",
        "is_followed",
        "last_packet_wire_bytes",
        "number",
        "payload_bytes",
        "rate_bps",
        "receipts",
        "sends",
        "signaled_before_ns",
        "wire_bytes",
        "wr_id",
    )

    def __init__(self) -> None:
        self.wr_id = 0
        self.sends: list[PostSend] = []
        self.ended_transfers: list[tuple[int, int]] = []
        self.payload_bytes = 0
        self.wire_bytes = 0
        self.last_packet_wire_bytes = 0
        self.receipts = 0
        self.enqueued_ns = NicNs(0)
        self.rate_bps = 0
        self.is_anchored = False
        self.is_followed = False
        self.epoch = NO_EPOCH
