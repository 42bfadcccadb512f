"""RTT samples for controls that look at nothing else of them."""

from rogue.agent.core.cc import Sample, Segments
from rogue.agent.core.clocks import HostNs

SEGMENTS = Segments(batch_bytes=65_536, floor_bytes=131_072)


def rtt_sample(rtt_ns: float, now_ns: int = 0) -> Sample:
    """A sample of one batch, with another in flight."""
    return Sample(rtt_ns, HostNs(now_ns), SEGMENTS.batch_bytes, SEGMENTS.batch_bytes)
