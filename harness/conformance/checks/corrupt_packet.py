"""A packet with a wrong ICRC is discarded without a word, and recovered like a lost one."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

CORRUPT = 4


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the reply to the packet behind the corrupt one."""
    corrupt = {packet.psn for packet in trace.discarded if trace.is_reliable_write}
    for gap in [gap for gap in trace.gaps if gap.psn in corrupt][:1]:
        naks = trace.naks_of(gap)
        yield Reading("NAKs for the gap", len(naks), exactly(1))
        yield Reading("number in the NAK", naks[0].psn if naks else None, exactly(gap.psn))


CHECK = Check(
    title="Corrupt packet",
    group="loss",
    requires="A packet with a wrong invariant CRC is silently discarded; the next one draws the NAK.",
    source="InfiniBand Architecture, volume 1, 7.8.1 and 9.6; RoCEv2: annex A17, 17.3.3",
    settings={"faults": [event("corrupt", CORRUPT)]},
    read=read,
)
