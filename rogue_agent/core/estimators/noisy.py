"""RTT samples disturbed on purpose: an ablation that shows how much noise the control tolerates."""

from collections.abc import Callable

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.base import RttEstimator
from rogue.agent.core.window import Batch


class Noisy(RttEstimator):
    """Adds a uniform random time in [0, x) to each sample of another estimator.

    The other estimator's own state stays clean. Source: RoGUE, section 5.2, figure 8.
    """

    __slots__ = ("_estimator", "_noise_ns", "_random", "needs_anchor")

    def __init__(self, estimator: RttEstimator, noise_ns: int, random: Callable[[], float]) -> None:
        self._estimator = estimator
        self._noise_ns = noise_ns
        self._random = random
        self.needs_anchor = estimator.needs_anchor

    def on_rate_change(self) -> None:
        """Pass it on."""
        self._estimator.on_rate_change()

    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the sample with noise; a batch without a sample costs no random number."""
        rtt_ns = self._estimator.sample(batch, completed_ns)
        return None if rtt_ns is None else rtt_ns + self._noise_ns * self._random()
