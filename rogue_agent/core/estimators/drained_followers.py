"""A variant of the default estimator: what is sent to an empty queue pair only anchors what follows."""

from rogue.agent.core.clocks import NicNs
from rogue.agent.core.estimators.drained import Drained
from rogue.agent.core.window import Batch


class DrainedFollowers(Drained):
    """Gives the samples of the batches behind an anchored one, and its own only if nothing follows it.

    The anchored batch of a backlogged flow leaves after the flow has been silent for an RTT, and finds the
    queue without the flow's own share; the more the flow sends, the more is missing, and the better the
    path looks. Its successors find the queue as it is under load. A batch that nobody follows has no share
    that could be missing.

    Source: RoGUE, section 3.3; the anchor is ours.  Test: test_drained_followers.py::test_worked_example.
    """

    __slots__ = ()

    def sample(self, batch: Batch, completed_ns: NicNs) -> float | None:
        """Return the batch's RTT, None for an anchor that others follow."""
        rtt_ns = super().sample(batch, completed_ns)
        return None if batch.is_anchored and batch.is_followed else rtt_ns
