"""After a NAK the requester sends the lost packet and all later ones again."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Rewind, Trace
from rogue.simulator import NicProfile

LOST = 4


def recovery_kind(trace: Trace, rewind: Rewind, lost: int) -> str:
    """Name the recovery by the first packet that is sent again, and by those after it."""
    first = rewind.packet.psn
    if first < lost:
        return "go-back-0" if first == trace.first_of_message(lost) else f"from packet {first}"
    return "go-back-N" if set(rewind.resent) - {lost} else "selective"


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read what follows the first NAK."""
    gap = next(iter(trace.gaps), None)
    rewind = next((each for each in trace.rewinds if each.cause == "NAK"), None)
    if gap is None or rewind is None:
        return
    yield Reading("recovery", recovery_kind(trace, rewind, gap.psn), exactly("go-back-N"))
    yield Reading("first packet sent again", rewind.packet.psn, exactly(gap.psn))


CHECK = Check(
    title="What is sent again after a NAK",
    group="loss",
    requires="The requester goes back to the packet in the NAK, and sends it and all later ones again.",
    source="InfiniBand Architecture, volume 1, 9.7.6 (requester: receiving responses)",
    settings={"faults": [event("drop", LOST)]},
    read=read,
)
