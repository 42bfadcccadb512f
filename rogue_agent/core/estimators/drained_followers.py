"""A variant of the default estimator: what is sent to an empty queue pair only anchors."""

from rogue_agent.core.batch import Batch
from rogue_agent.core.clocks import NicNs
from rogue_agent.core.estimators.drained import Drained


class DrainedFollowers(Drained):
    """Gives the samples of the batches behind an anchored one only.

    An anchored batch leaves after its flow has been silent for an RTT, and finds the queue without the
    flow's own share. Its successors find the queue as it is under load, but each carries the errors since
    the anchor. A flow that never has two batches out gets no sample at all: an ablation, not a default.

    Source: RoGUE, section 3.3; the anchor is ours.  Test: test_drained_followers.py::test_worked_example.
    """

    __slots__ = ()

    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the batch's RTT, None for the anchor itself."""
        rtt_ns = super().sample(batch, completed_ns)
        return None if batch.is_anchored else rtt_ns
