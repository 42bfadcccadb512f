"""Swift for RDMA's send windows: a delay target that scales with hops and flows, one decrease per round trip.

Source: Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter",
SIGCOMM 2020, sections 3.1 (window), 3.2 (target) and 3.3 (windows below one packet); its symbols.
Deviation: host delay and fabric delay are one RTT here, for the agent has one; losses come from the library,
and pacing is the limiter's at any window, for below two batches the window cannot pace.
"""

import math
from dataclasses import dataclass, field

from rogue.agent.core.cc import CongestionControl, CongestionControlParameters, Sample, Segments
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.parameters import at_least, between
from rogue.agent.core.plugins import register_control


@dataclass(frozen=True, slots=True)
class SwiftParameters(CongestionControlParameters):
    """Constants of Swift, with the defaults of csg-htsim's swift.cpp, for the paper gives few.

    base_target_ns: delay that is fine for one flow on one hop.
    hop_ns: what each hop adds to it (h-bar); hops: how many there are on the path.
    flow_range_ns: the most that flow scaling adds (fs_range).
    flow_min_packets, flow_max_packets: the window at which it adds all of that, and nothing any more.
    ai_packets: growth per round trip.
    beta: how strongly the excess over the target shrinks the window.
    decrease_max: the largest part of the window that one decrease takes (max_mdf).
    cwnd_initial_packets, cwnd_min_packets, cwnd_max_packets: where the window starts, and its bounds.
    restarts_max: timeouts in a row after which the window falls to its minimum.
    """

    base_target_ns: int = field(default=20_000, metadata=at_least(1))
    hop_ns: int = field(default=3_053, metadata=at_least(0))
    hops: int = field(default=2, metadata=between(0, 255))
    flow_range_ns: int = field(default=100_000, metadata=at_least(0))
    flow_min_packets: float = field(default=0.1, metadata=at_least(1e-6))
    flow_max_packets: float = field(default=100.0, metadata=at_least(1e-6))
    ai_packets: float = field(default=1.0, metadata=at_least(0))
    beta: float = field(default=0.8, metadata=between(0, 1))
    decrease_max: float = field(default=0.5, metadata=between(0, 1))
    cwnd_initial_packets: float = field(default=10.0, metadata=at_least(1e-6))
    cwnd_min_packets: float = field(default=0.001, metadata=at_least(1e-6))
    cwnd_max_packets: float = field(default=1_000.0, metadata=at_least(1))
    restarts_max: int = field(default=5, metadata=at_least(1))

    @classmethod
    def for_line_rate(cls, line_rate_bps: int) -> "SwiftParameters":
        """The same at every rate."""
        return cls()

    def build(self, link: LinkFacts, segments: Segments) -> "Swift":
        """One per direction of a connection."""
        return Swift(self, link)


class Swift(CongestionControl):
    """Additive increase below the target, multiplicative decrease above it, at most once per round trip."""

    __slots__ = ("_decreased_ns", "_link", "_now_ns", "_p", "_restarts", "_rtt_ns", "target_ns")

    def __init__(self, parameters: SwiftParameters, link: LinkFacts) -> None:
        self._p = parameters
        self._link = link
        self._rtt_ns = float(parameters.base_target_ns)
        self._now_ns = 0
        self._decreased_ns = -math.inf
        self._restarts = 0
        self.cwnd_packets = parameters.cwnd_initial_packets
        self.target_ns = self._target_ns()

    @property
    def target_rate_bps(self) -> float:
        """A window per round trip, on the wire: below one packet the gap is rtt / cwnd, as published."""
        return self.cwnd_packets * self._link.packet_wire_bits * 1e9 / self._rtt_ns

    def on_sample(self, sample: Sample) -> None:
        """Grow by ai per window acknowledged, or shrink by beta times the excess."""
        self._now_ns, self._rtt_ns, self._restarts = sample.now_ns, max(1.0, sample.rtt_ns), 0
        self.target_ns = self._target_ns()
        if self._rtt_ns < self.target_ns:
            acked_packets = sample.acked_bytes / self._link.mtu_bytes
            # Section 3.3: below one packet the window grows by ai per packet, and not by a share of it.
            self._set(self.cwnd_packets + self._p.ai_packets * acked_packets / max(self.cwnd_packets, 1.0))
        elif self._may_decrease:
            excess = self._p.beta * (self._rtt_ns - self.target_ns) / self._rtt_ns
            self._decrease(min(excess, self._p.decrease_max))

    def on_loss(self) -> None:
        """The largest decrease, once per round trip."""
        self._restarts = 0
        if self._may_decrease:
            self._decrease(self._p.decrease_max)

    def on_timeout(self) -> None:
        """As a loss; the minimum after several in a row."""
        self._restarts += 1
        if self._restarts >= self._p.restarts_max:
            self._set(0)
        elif self._may_decrease:
            self._decrease(self._p.decrease_max)

    def metrics(self) -> dict[str, float]:
        """The window and the target it was judged by."""
        return {"cwnd_packets": self.cwnd_packets, "target_delay_ns": self.target_ns}

    @property
    def _may_decrease(self) -> bool:
        return self._now_ns - self._decreased_ns >= self._rtt_ns

    def _decrease(self, share: float) -> None:
        self._decreased_ns = self._now_ns
        self._set(self.cwnd_packets * (1 - share))

    def _set(self, cwnd_packets: float) -> None:
        self.cwnd_packets = min(max(cwnd_packets, self._p.cwnd_min_packets), self._p.cwnd_max_packets)

    def _target_ns(self) -> float:
        """Base target, hops, and alpha / sqrt(cwnd) + b between 0 and the range of flow scaling."""
        p = self._p
        fixed_ns = p.base_target_ns + p.hops * p.hop_ns
        spread = 1 / math.sqrt(p.flow_min_packets) - 1 / math.sqrt(p.flow_max_packets)
        if spread <= 0:
            return float(fixed_ns)
        alpha = p.flow_range_ns / spread
        scaled_ns = alpha / math.sqrt(self.cwnd_packets) - alpha / math.sqrt(p.flow_max_packets)
        return fixed_ns + max(0.0, min(scaled_ns, p.flow_range_ns))


register_control("swift", SwiftParameters)
