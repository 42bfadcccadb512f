"""RoGUE's congestion control: Vegas on one RTT sample per batch, and a limiter rate from its window.

Source: RoGUE (Le et al., SoCC 2018), section 3.3; Vegas's constants as in Linux's tcp_vegas.c.
"""

import math
from dataclasses import dataclass, field

from rogue.agent.core.cc.base import CongestionControl, CongestionControlParameters, Sample, Segments
from rogue.agent.core.errors import ContradictionError
from rogue.agent.core.limiter import LINE_RATE_BPS_SMALL_SEGMENTS_MAX, LinkFacts
from rogue.agent.core.parameters import at_least, between

BASE_RTT_FLOOR_NS_40G = 50_000
BASE_RTT_FLOOR_NS_100G = 21_000


@dataclass(frozen=True, slots=True)
class VegasParameters(CongestionControlParameters):
    """Constants of the window rule.

    base_rtt_floor_ns: lower bound of the base RTT (the paper's footnote 1).
    alpha_packets, beta_packets: the window grows below alpha queued packets, shrinks above beta.
        Deviation: the paper prints "4 and 2", an order in which 2 < diff < 4 would grow and shrink.
    gamma_packets: slow start ends above this many queued packets.
    cwnd_initial_packets, cwnd_min_packets: initial and smallest window.
    cwnd_cap_bdp: the window does not *grow* beyond this many bandwidth-delay products at the base RTT.
        Deviation: not in the paper. While the limiter is at line rate, or lags behind because of its bounded
        change, nothing else bounds the window.
    slow_start: start with a window that doubles.
    """

    base_rtt_floor_ns: int = field(default=BASE_RTT_FLOOR_NS_40G, metadata=at_least(1))
    alpha_packets: float = field(default=2.0, metadata=at_least(0))
    beta_packets: float = field(default=4.0, metadata=at_least(0))
    gamma_packets: float = field(default=1.0, metadata=at_least(0))
    cwnd_initial_packets: float = field(default=10.0, metadata=between(1, 10_000))
    cwnd_min_packets: float = field(default=2.0, metadata=between(1, 10_000))
    cwnd_cap_bdp: float = field(default=2.0, metadata=at_least(1))
    slow_start: bool = True

    @classmethod
    def for_line_rate(cls, line_rate_bps: int) -> "VegasParameters":
        """Return the defaults with the base-RTT floor of the line rate."""
        if line_rate_bps <= LINE_RATE_BPS_SMALL_SEGMENTS_MAX:
            return cls(base_rtt_floor_ns=BASE_RTT_FLOOR_NS_40G)
        return cls(base_rtt_floor_ns=BASE_RTT_FLOOR_NS_100G)

    def check(self) -> None:
        """Raise SettingsError unless alpha <= beta and the minimum <= the initial window."""
        for name, bound_name in (
            ("alpha_packets", "beta_packets"),
            ("cwnd_min_packets", "cwnd_initial_packets"),
        ):
            value, bound = getattr(self, name), getattr(self, bound_name)
            if value > bound:
                raise ContradictionError(name, value, bound_name, bound)

    def build(self, link: LinkFacts, segments: Segments) -> "Vegas":
        """Return an instance in slow start."""
        return Vegas(self, link)


class Vegas(CongestionControl):
    """Additive increase and decrease around a dead zone of alpha to beta queued packets, after slow start."""

    __slots__ = (
        "_alpha",
        "_beta",
        "_cap_packets_per_ns",
        "_diff_packets",
        "_floor_ns",
        "_gamma",
        "_initial",
        "_is_slow_start",
        "_minimum",
        "_packet_wire_bits",
        "_slow_start",
        "base_rtt_ns",
    )

    def __init__(self, parameters: VegasParameters, link: LinkFacts) -> None:
        self._alpha = parameters.alpha_packets
        self._beta = parameters.beta_packets
        self._gamma = parameters.gamma_packets
        self._initial = parameters.cwnd_initial_packets
        self._minimum = parameters.cwnd_min_packets
        self._floor_ns = float(parameters.base_rtt_floor_ns)
        self._slow_start = parameters.slow_start
        self._packet_wire_bits = link.packet_wire_bits
        self._cap_packets_per_ns = parameters.cwnd_cap_bdp * link.line_rate_bps / 1e9 / link.packet_wire_bits
        self._diff_packets = 0.0
        self.base_rtt_ns = math.inf
        self.cwnd_packets = self._initial
        self._is_slow_start = self._slow_start

    @property
    def is_slow_start(self) -> bool:
        """True while the window doubles."""
        return self._is_slow_start

    @property
    def target_rate_bps(self) -> float:
        """One window per base RTT, in wire bits/s; before the first sample the base RTT is the floor.

        Source: RoGUE, section 3.3, rate_limit = cwnd / base_rtt.
        Test: test_cc.py::test_target_rate_worked_examples.
        """
        return self.cwnd_packets * self._packet_wire_bits * 1e9 / self._known_base_rtt_ns

    @property
    def _known_base_rtt_ns(self) -> float:
        return self.base_rtt_ns if self.base_rtt_ns < math.inf else self._floor_ns

    def on_sample(self, sample: Sample) -> None:
        """Update base RTT and window.

        diff = cwnd * (rtt - base_rtt) / rtt, the queued packets of this window.
        Source: RoGUE, section 3.3.  Test: test_cc.py::test_window_worked_examples.
        """
        rtt_ns, base_rtt_ns = sample.rtt_ns, self.base_rtt_ns
        if rtt_ns < base_rtt_ns:
            base_rtt_ns = self.base_rtt_ns = max(self._floor_ns, rtt_ns)
        rtt_ns = max(rtt_ns, base_rtt_ns)
        diff_packets = self._diff_packets = self.cwnd_packets * (rtt_ns - base_rtt_ns) / rtt_ns
        if self._is_slow_start:
            self._slow_start_step(diff_packets, rtt_ns)
        elif diff_packets > self._beta:
            self.cwnd_packets -= 1
        elif diff_packets < self._alpha:
            self._grow(self.cwnd_packets + 1)
        self.cwnd_packets = max(self.cwnd_packets, self._minimum)

    def _slow_start_step(self, diff_packets: float, rtt_ns: float) -> None:
        """Double the window, or end slow start with a window for an empty queue plus one packet.

        Source: RoGUE, section 3.3 ("doubles until congestion is detected"); exit window as Linux's
        tcp_vegas.c.
        Test: test_cc.py::test_slow_start_worked_examples.
        """
        cwnd_packets = self.cwnd_packets
        if diff_packets > self._gamma:
            self._is_slow_start = False
            self.cwnd_packets = min(cwnd_packets, cwnd_packets * self.base_rtt_ns / rtt_ns + 1)
        else:
            self._grow(2 * cwnd_packets)

    def _grow(self, cwnd_packets: float) -> None:
        cap_packets = self._cap_packets_per_ns * self.base_rtt_ns
        self.cwnd_packets = max(self.cwnd_packets, min(cwnd_packets, cap_packets))

    def on_loss(self) -> None:
        """Halve the window and end slow start.

        Source: RoGUE, section 3.4 ("multiplicatively"); the factor is not given, 1/2 is Reno's and Vegas's.
        Test: test_cc.py::test_loss_halves_down_to_the_minimum.
        """
        self._is_slow_start = False
        self.cwnd_packets = max(self._minimum, self.cwnd_packets / 2)

    def on_timeout(self) -> None:
        """Restart with the initial window in slow start; keep the base RTT, a property of the path.

        Source: RoGUE, section 3.4.  Test: test_cc.py::test_timeout_restarts_and_keeps_the_base_rtt.
        """
        self._is_slow_start = self._slow_start
        self.cwnd_packets = self._initial

    def metrics(self) -> dict[str, float]:
        """Return the window, the base RTT in use, the last difference, and 1 in slow start."""
        return {
            "cwnd_packets": self.cwnd_packets,
            "base_rtt_ns": self._known_base_rtt_ns,
            "diff_packets": self._diff_packets,
            "is_slow_start": float(self._is_slow_start),
        }
