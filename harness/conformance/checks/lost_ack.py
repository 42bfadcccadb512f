"""The ACK of the last packet is lost: the requester repeats, and the responder acknowledges duplicates."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, allowed_timeout, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LAST = 15


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read what follows a lost ACK that no later one covers."""
    lost = [ack for ack in trace.of_kind("ack") if ack.is_lost]
    highest = max((packet.psn for packet in trace.data), default=-1)
    rewind = next(iter(trace.rewinds), None)
    if not lost or lost[0].psn < highest:
        return
    after = [ack for ack in trace.of_kind("ack") if ack.t_ns > lost[0].t_ns]
    yield Reading("repetition after", rewind.since_ns if rewind else None, allowed_timeout(trace), unit="ns")
    yield Reading("number in the next ACK", after[0].psn if after else None, exactly(lost[0].psn))
    yield Reading("NAKs", len(trace.of_kind("nak")), exactly(0))


CHECK = Check(
    title="Lost ACK",
    group="acknowledgements",
    requires="The requester repeats after its timeout; the responder acknowledges duplicates without a NAK.",
    source="InfiniBand Architecture, volume 1, 9.7.6.1.3; 9.7.5.1 (duplicate requests)",
    settings={"faults": [event("drop", LAST, "ack")]},
    read=read,
)
