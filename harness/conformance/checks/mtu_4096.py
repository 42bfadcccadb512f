"""With an MTU of 4096 bytes, all packets but the last of a message are full."""

from collections.abc import Iterator

from rogue.harness.conformance.check import Check, Reading, event, exactly
from rogue.harness.conformance.trace import Trace
from rogue.simulator import NicProfile

MTU_BYTES = 4096


def read(trace: Trace, nic: NicProfile | None) -> Iterator[Reading]:
    """Read the payload of packets that are not the last of their message."""
    sizes = {packet.payload_bytes for packet in trace.data if "last" not in packet.flags}
    if not sizes or max(sizes) != MTU_BYTES:
        return
    yield Reading("payload of full packets, bytes", max(sizes), exactly(MTU_BYTES))
    yield Reading("sizes of full packets", len(sizes), exactly(1))
    for gap in trace.gaps[:1] if trace.is_reliable_write else ():
        naks = trace.naks_of(gap)
        yield Reading("number in the NAK", naks[0].psn if naks else None, exactly(gap.psn))


CHECK = Check(
    title="MTU of 4096 bytes",
    group="other services and sizes",
    requires="Each packet raises the PSN by one at any MTU; all packets of a message but the last are full.",
    source="InfiniBand Architecture, volume 1, 9.7.2 (PSN) and 9.7.4 (packet length against the MTU)",
    settings={"topology.mtu": MTU_BYTES, "faults": [event("drop", 1)]},
    read=read,
)
