"""DCQCN once more, in Python: a prototype of a control in NICs that gives what the engine's own gives.

Source: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, section 3, with the
engine's constants.
"""

from collections.abc import Mapping

from rogue.harness.testbeds.simulator.plugins import ControlParameter, register_nic_control
from rogue.simulator import PrototypeControl

PS_PER_NS = 1_000


class Dcqcn(PrototypeControl):
    """DCQCN: a CNP cuts the rate, a timer and a byte counter bring it back."""

    wants_marks = True

    def __init__(self, parameters: Mapping[str, float], line_rate_bps: int) -> None:
        self._p = parameters
        self._line_bps = float(line_rate_bps)
        self._alpha_timer_ps = int(parameters["alpha_timer_ns"]) * PS_PER_NS
        self._rate_timer_ps = int(parameters["rate_timer_ns"]) * PS_PER_NS
        self.cnp_gap_ps = int(parameters["cnp_gap_ns"]) * PS_PER_NS
        self._rate_min_bps = min(parameters["rate_min_bps"], self._line_bps)
        self._rate_bps = self._target_bps = self._line_bps
        self._alpha = parameters["initial_alpha"]
        self._alpha_deadline_ps: int | None = None
        self._time_stage = self._byte_stage = self._sent_bytes = 0
        self._tell()

    def on_cnp(self, now_ps: int) -> None:
        """Target and rate fall, alpha rises, all counting starts again."""
        g = self._p["g"]
        alpha, _ = self._decayed(now_ps)
        self._target_bps = self._rate_bps
        self._alpha = (1 - g) * alpha + g
        self._rate_bps = max(self._rate_min_bps, self._rate_bps * (1 - alpha / 2))
        self._time_stage = self._byte_stage = self._sent_bytes = 0
        self._alpha_deadline_ps = now_ps + self._alpha_timer_ps
        self.deadline_ps = now_ps + self._rate_timer_ps
        self._tell()

    def on_sent(self, now_ps: int, wire_bytes: int) -> None:
        """Count towards an increase."""
        if self._is_limited:
            self._sent_bytes += wire_bytes
            if self._sent_bytes >= self._counter_bytes:
                self._sent_bytes -= self._counter_bytes
                self._byte_stage += 1
                self._increase()
        self._tell()

    def on_timer(self, now_ps: int) -> None:
        """Increase, and wait for the next one."""
        self._time_stage += 1
        self._increase()
        if self._is_limited:
            self.deadline_ps = now_ps + self._rate_timer_ps
        self._tell()

    def metrics(self, now_ps: int) -> dict[str, float]:
        """Return the target rate and the estimate of congestion."""
        return {"target_bps": self._target_bps, "alpha": self._decayed(now_ps)[0]}

    @property
    def _is_limited(self) -> bool:
        return self._rate_bps < self._line_bps

    @property
    def _counter_bytes(self) -> int:
        return int(self._p["byte_counter_bytes"])

    def _decayed(self, now_ps: int) -> tuple[float, int]:
        """Alpha after a decay for each full timer without a CNP, by squares as the engine works it out."""
        times = 0
        if self._alpha_deadline_ps is not None and self._alpha_deadline_ps <= now_ps:
            times = 1 + (now_ps - self._alpha_deadline_ps) // self._alpha_timer_ps
        alpha, factor, left = self._alpha, 1 - self._p["g"], times
        while left:
            if left & 1:
                alpha *= factor
            left, factor = left >> 1, factor * factor
        return alpha, times

    def _increase(self) -> None:
        """Half-way to the target, which itself rises after the recoveries, and faster after both."""
        recoveries = int(self._p["recoveries"])
        hyper_stages = min(self._time_stage, self._byte_stage) - recoveries
        if hyper_stages > 0:
            self._target_bps += hyper_stages * self._p["hyper_increase_bps"]
        elif max(self._time_stage, self._byte_stage) > recoveries:
            self._target_bps += self._p["additive_increase_bps"]
        self._target_bps = min(self._target_bps, self._line_bps)
        self._rate_bps = (self._target_bps + self._rate_bps) / 2
        if self._line_bps - self._rate_bps < 1:
            self._rate_bps = self._line_bps
            self.deadline_ps = None

    def _tell(self) -> None:
        self.rate_bps = int(self._rate_bps + 0.5)
        self.untold_bytes_max = self._counter_bytes - self._sent_bytes if self._is_limited else 2**63 - 1


register_nic_control(
    "my-dcqcn",
    Dcqcn,
    [
        ControlParameter("g", 1 / 256, 1e-9, 1, "weight of the last CNP in alpha"),
        ControlParameter("initial_alpha", 1, 0, 1, "estimate of congestion before the first CNP"),
        ControlParameter("cnp_gap_ns", 50_000, 0, 1e9, "least time between CNPs"),
        ControlParameter("alpha_timer_ns", 55_000, 1, 1e9, "alpha decays after this time without one"),
        ControlParameter("rate_timer_ns", 55_000, 1, 1e9, "time from one increase to the next"),
        ControlParameter("byte_counter_bytes", 10e6, 1, 1e15, "wire bytes from one increase to the next"),
        ControlParameter("recoveries", 5, 0, 1000, "increases that go half-way to the target"),
        ControlParameter("additive_increase_bps", 40e6, 0, 1e13, "of the target, after the recoveries"),
        ControlParameter("hyper_increase_bps", 400e6, 0, 1e13, "of the target, when both have recovered"),
        ControlParameter("rate_min_bps", 100e6, 1, 1e13, "smallest rate"),
    ],
)
