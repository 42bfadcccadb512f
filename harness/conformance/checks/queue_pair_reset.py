"""A queue pair that failed and was reset begins anew with the numbers of its new connection."""

from collections.abc import Iterator
from itertools import groupby

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

FAILURES = 2
"""The agent moves to a second queue pair at the first failure, and back to the reset one at the second."""


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the packets of the first queue pair after its reset."""
    turns = [list(packets) for _, packets in groupby(trace.data, key=lambda packet: packet.qp_num)]
    again = turns[-1] if len(turns) > FAILURES and turns[-1][0].qp_num == turns[0][0].qp_num else []
    if not again:
        return
    replies = [reply for reply in trace.of_kind("ack", "nak") if reply.t_ns > again[0].t_ns]
    acks = [reply.psn for reply in replies if reply.kind == "ack"]
    yield Reading("begins a message", "yes" if "first" in again[0].flags else "no", exactly("yes"))
    yield Reading("NAKs after the reset", len(replies) - len(acks), exactly(0))
    yield Reading("last packet acknowledged", max(acks, default=None), exactly(again[-1].psn))


CHECK = Check(
    title="Queue pair after a reset",
    group="other services and sizes",
    requires="A reset queue pair forgets its packets, and continues with the numbers of its new connection.",
    source="InfiniBand Architecture, volume 1, 10.3.1 (queue pair states)",
    settings={
        "transports": [{"name": "rogue"}],
        "workload.size": "65536B",
        "faults": [event("drop", 0, transmission=number) for number in range(1, 2 * FAILURES + 1)],
    },
    read=read,
)
