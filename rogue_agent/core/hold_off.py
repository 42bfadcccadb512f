"""When RTT samples count: not while a new limiter value may not act yet.

Source: RoGUE, section 3.3 ("holds off taking any RTT samples for the upcoming H = 160KB of data
transmitted").
Deviation: software sees bytes posted, not bytes transmitted. The hold-off therefore ends only with a batch
that is posted after H further bytes were posted; where the estimator needs an anchor, the queue pair runs
empty before that batch.
"""

from enum import Enum, unique

from rogue.agent.core.batch import NO_EPOCH


@unique
class Phase(Enum):
    """What a batch posted now is good for."""

    HOLDING = "batches flow, their samples do not count"
    DRAINING = "nothing is posted until the queue pair is empty"
    SAMPLING = "batches flow, their samples count"
    PAUSED = "nothing is posted until there is a limiter again"


_HOLDING, _DRAINING, _SAMPLING, _PAUSED = Phase
"""Looked up once: to find a member of an enumeration takes longer than all else that is asked per batch."""


class HoldOff:
    """Gate in front of each post; `epoch` numbers the limiter's settings.

    A sample counts if its batch was posted while sampling, in the epoch that still lasts when it completes.
    Test: test_hold_off.py::test_worked_example.
    """

    __slots__ = ("_hold_off_bytes", "_needs_anchor", "_remaining_bytes", "epoch", "phase")

    def __init__(self, hold_off_bytes: int, *, needs_anchor: bool) -> None:
        self._hold_off_bytes = hold_off_bytes
        self._needs_anchor = needs_anchor
        self._remaining_bytes = 0
        self.epoch = 0
        self.phase = _SAMPLING

    def restart(self) -> None:
        """The limiter was written: start a new epoch, and hold off."""
        self.epoch += 1
        self._remaining_bytes = self._hold_off_bytes
        if self.phase is not _PAUSED:
            self.phase = _HOLDING

    @property
    def is_paused(self) -> bool:
        """Whether nothing may be posted, for want of a limiter."""
        return self.phase is _PAUSED

    def pause(self) -> None:
        """Nothing more may be posted."""
        self.phase = _PAUSED

    def resume(self) -> None:
        """Posting goes on, and begins with a hold-off."""
        self.phase = _HOLDING
        self.restart()

    def admits(self, is_idle: bool) -> bool:
        """Move on as far as the bytes posted allow, and say whether a batch may be posted now.

        `is_idle`: nothing is posted and uncompleted.
        """
        phase = self.phase
        if phase is _SAMPLING:
            return True
        if phase is _HOLDING and self._remaining_bytes <= 0:
            self.phase = _DRAINING if self._needs_anchor else _SAMPLING
        if self.phase is _DRAINING and is_idle:
            self.phase = _SAMPLING
        return self.phase is _HOLDING or self.phase is _SAMPLING

    def on_post(self, payload_bytes: int) -> int:
        """Count a batch; return the epoch that its sample belongs to, NO_EPOCH if it does not count."""
        if self.phase is _SAMPLING:
            return self.epoch
        self._remaining_bytes -= payload_bytes
        return NO_EPOCH
