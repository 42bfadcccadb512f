"""What a requester sends after a NAK: new packets before it goes back, and the next request for an ACK."""

from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

LOST, PACKETS = 65, 512
"""The first 65 packets have asked for no ACK, or for one. When the late NAK comes, 129 packets or
more have left, so that a window of 129 has closed."""
KEPT, SHIFTED = "at the same packets", "counted on"


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the new packets between the first NAK and the first resend, and which are acknowledged then."""
    rewinds = [each for each in trace.rewinds if each.cause == "NAK"]
    naks = [nak for gap in trace.gaps[:1] for nak in trace.naks_of(gap)]
    if not trace.is_reliable_write or not rewinds or not naks or rewinds[0].packet.psn < LOST:
        return
    resent = rewinds[0].packet
    heard_ns = resent.t_ns - rewinds[0].since_ns
    new = [each for each in trace.data if each.transmission == 1 and heard_ns <= each.t_ns < resent.t_ns]
    yield Reading("new packets", len(new), None, exactly(nic.packets_after_nak_max) if nic else None)
    acked = [ack.psn for ack in trace.of_kind("ack") if ack.t_ns > naks[0].t_ns]
    if len(acked) < 4:  # the last one is for the end of the message
        return
    every = median(after - before for before, after in pairwise(acked[:-1]))
    place = KEPT if (acked[0] + 1) % every == 0 else SHIFTED
    profile = exactly(SHIFTED if nic.retry_rules.keeps_ack_count else KEPT) if nic else None
    yield Reading("later ACKs", place, None, profile, ruled=exactly(SHIFTED))


CHECK = Check(
    title="Packets after a NAK",
    group="loss",
    requires="A NIC may first send what it has taken up, and choose which packets ask for an ACK.",
    source="InfiniBand Architecture, volume 1, 9.7.5.1.2 (coalesced acknowledge messages); NIC profile",
    settings={
        "workload.size": f"{PACKETS * 1024}B",
        "faults": [event("drop", LOST), {**event("delay", LOST, "nak"), "amount": "100us"}],
    },
    read=read,
    profile_fields={"new packets": "packets_after_nak_max", "later ACKs": "keeps_ack_count"},
)
