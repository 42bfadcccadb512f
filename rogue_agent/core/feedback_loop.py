"""The feedback loop of a connection: RTT samples in, window and rate out."""

from enum import Enum, unique

from rogue.agent.core.cc import Sample, Segments
from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.estimators import build_estimator
from rogue.agent.core.limiter import Limiter, LinkFacts
from rogue.agent.core.settings import NO_INSTRUMENTS, Instruments, TransportSettings
from rogue.agent.core.window import NO_EPOCH, Batch


@unique
class Phase(Enum):
    """Phase of a connection after a change of the limiter."""

    HOLDING = "batches flow, their samples do not count"
    DRAINING = "nothing is posted until the queue pair is empty"
    SAMPLING = "batches flow, their samples count"
    PAUSED = "nothing is posted until a limiter is lent"


_HOLDING, _DRAINING, _SAMPLING, _PAUSED = Phase
"""Looked up once, because the lookup of an enumeration member is slow and happens per batch."""


class HoldOff:
    """Admits or delays posts after a change of the limiter; `epoch` counts the limiter's settings.

    A sample counts if its batch was posted in phase SAMPLING, and the epoch is the same when it completes.
    Test: test_feedback_loop.py::test_worked_example.
    """

    __slots__ = ("_hold_off_bytes", "_needs_anchor", "_remaining_bytes", "epoch", "phase")

    def __init__(self, hold_off_bytes: int, *, needs_anchor: bool) -> None:
        self._hold_off_bytes = hold_off_bytes
        self._needs_anchor = needs_anchor
        self._remaining_bytes = 0
        self.epoch = 0
        self.phase = _SAMPLING

    def restart(self) -> None:
        """Start a new epoch and a hold-off, after the limiter was set."""
        self.epoch += 1
        self._remaining_bytes = self._hold_off_bytes
        if self.phase is not _PAUSED:
            self.phase = _HOLDING

    @property
    def is_paused(self) -> bool:
        """True while there is no limiter and nothing may be posted."""
        return self.phase is _PAUSED

    def pause(self) -> None:
        """Stop posting."""
        self.phase = _PAUSED

    def resume(self, *, holds: bool = True) -> None:
        """Resume posting, with a hold-off first unless the limiter has never been set."""
        self.phase = _HOLDING if holds else _SAMPLING
        if holds:
            self.restart()

    def admits(self, is_idle: bool) -> bool:
        """Update the phase; return True if a batch may be posted now.

        `is_idle`: no posted verb is uncompleted.
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
        """Count a batch; return the epoch of its sample, NO_EPOCH if the sample will not count."""
        if self.phase is _SAMPLING:
            return self.epoch
        self._remaining_bytes -= payload_bytes
        return NO_EPOCH


@unique
class SampleVerdict(Enum):
    """Reason for accepting or rejecting an RTT sample."""

    ACCEPTED = "accepted"
    HOLD_OFF = "hold_off"
    RATE_CHANGED = "rate_changed"


@unique
class _Request(Enum):
    """State of the last requested rate."""

    SETTLED = "effective, or none requested"
    REQUESTED = "requested, without a reply of the limiter yet"
    LATE = "effective later; the limiter reports when"


_ACCEPTED, _HOLD_OFF, _RATE_CHANGED = SampleVerdict
_SETTLED, _REQUESTED, _LATE = _Request


class FeedbackLoop:
    """Congestion control, RTT estimator, limiter and hold-off of one direction of a connection.

    `link` is the port that sends the bytes: the peer's for READs. `rate_bps` is the effective rate of its
    limiter, or the line rate without a limiter.
    """

    __slots__ = (
        "_acked_bytes",
        "_awaits_first_window",
        "_coming_bps",
        "_estimator",
        "_hold_off",
        "_limiter",
        "_request",
        "cc",
        "link",
        "rate_bps",
    )

    def __init__(
        self, settings: TransportSettings, link: LinkFacts, instruments: Instruments = NO_INSTRUMENTS
    ) -> None:
        self.link = link
        segments = Segments(settings.segment_bytes, settings.batches_min * settings.segment_bytes)
        self.cc = settings.cc_parameters.build(link, segments)
        self.rate_bps = link.line_rate_bps
        self._estimator = build_estimator(settings, link, instruments)
        self._limiter = Limiter(link, settings.rate_change_max_bps) if link.has_limiter else None
        needs_anchor = self._estimator is not None and self._estimator.needs_anchor
        self._hold_off = HoldOff(settings.hold_off_bytes, needs_anchor=needs_anchor)
        self._request = _SETTLED
        self._coming_bps = self.rate_bps
        self._acked_bytes = 0
        self._awaits_first_window = settings.first_window

    @property
    def has_estimator(self) -> bool:
        """True if completions give RTT samples."""
        return self._estimator is not None

    @property
    def uses_limiter(self) -> bool:
        """True if the loop sets a limiter."""
        return self._limiter is not None and self.cc.target_rate_bps is not None

    @property
    def has_turn(self) -> bool:
        """True if posting is allowed: limiters are not shared, or one is lent to us."""
        return not self._hold_off.is_paused

    def next_rate(self) -> int | None:
        """Return the rate to set now, which starts a hold-off; None to leave the limiter alone."""
        if self._limiter is None or self._hold_off.is_paused or self._awaits_first_window:
            return None
        target_bps = self.cc.target_rate_bps
        if target_bps is None:
            return None
        rate_bps = self._limiter.request(target_bps, self.rate_bps, self._coming_bps)
        if rate_bps is not None:
            if self._request is _SETTLED:
                self._request = _REQUESTED
            self._coming_bps = self._limiter.rounded_up(rate_bps)
            self._start_epoch()
        return rate_bps

    def coming_rate_bps(self) -> int:
        """Return the effective rate that follows from the last sample."""
        if self._limiter is None or self._request is not _SETTLED or self._hold_off.is_paused:
            return self._coming_bps
        target_bps = self.cc.target_rate_bps
        if target_bps is None:
            return self._coming_bps
        rate_bps = self._limiter.preview(target_bps, self.rate_bps)
        return self.rate_bps if rate_bps is None else self._limiter.rounded_up(rate_bps)

    def on_rate_set(self, effective_bps: int | None) -> None:
        """Record the limiter's effective rate; an unrequested change also starts a hold-off.

        None: the requested rate takes effect later. Batches posted until then have no sample, and the
        hold-off restarts when the rate is effective. A limiter that rounds up can report more than the line
        rate, which then counts.
        """
        if effective_bps is None:
            self._request = _LATE
            return
        rate_bps = min(effective_bps, self.link.line_rate_bps)
        if self._request is _LATE or (self._request is _SETTLED and rate_bps != self.rate_bps):
            self._start_epoch()
        self._request = _SETTLED
        self.rate_bps = self._coming_bps = rate_bps

    def rounded_up(self, rate_bps: int) -> int:
        """Return the effective rate of a limiter that does not report it."""
        return rate_bps if self._limiter is None else self._limiter.rounded_up(rate_bps)

    def restart(self) -> None:
        """Restart on another queue pair, with the initial window and rate; keep only the base RTT.

        Deviation: RoGUE does not specify the window here. The old rate must not follow the loss of a queue
        pair.
        """
        self.cc.on_timeout()
        if self._limiter is not None:
            self._limiter.restart()
        if self._estimator is not None:
            self._estimator.on_rate_change()

    def on_turn(self, *, has_limiter: bool) -> None:
        """Handle the loan of a limiter, whose rate is unknown, or its revocation."""
        if not has_limiter:
            self._hold_off.pause()
            return
        self._hold_off.resume(holds=not self._awaits_first_window)
        if self._limiter is not None:
            self._limiter.restart()
        if self._estimator is not None:
            self._estimator.on_rate_change()

    def admits(self, is_idle: bool) -> bool:
        """True if the hold-off allows a batch to be posted now."""
        if self._awaits_first_window and not is_idle:
            return False
        if self._request is _LATE:
            return not self._hold_off.is_paused
        return self._hold_off.admits(is_idle)

    def on_post(self, batch: Batch, is_idle: bool) -> None:
        """Record that a batch goes out; `is_idle`: to an empty queue pair."""
        batch.epoch = self._hold_off.on_post(batch.payload_bytes)
        batch.is_anchored = is_idle and batch.epoch != NO_EPOCH

    def on_posted(self, batch: Batch, nic_ns: NicNs) -> None:
        """Record the instant just before the batch's first verb was posted."""
        batch.enqueued_ns = nic_ns
        batch.rate_bps = self.rate_bps

    def on_acknowledged(self, payload_bytes: int) -> None:
        """Count the acknowledged bytes of a batch, with or without a sample."""
        self._acked_bytes += payload_bytes

    def sample(
        self, batch: Batch, completed_ns: NicNs, now: HostNs, inflight_bytes: int
    ) -> tuple[float | None, SampleVerdict]:
        """Estimate the RTT of a completed batch, and pass an accepted sample to the congestion control."""
        assert self._estimator is not None, "sample() without an estimator"
        rtt_ns = self._estimator.sample(batch, completed_ns)
        if batch.epoch == NO_EPOCH or rtt_ns is None or self._request is _LATE:
            return rtt_ns, _HOLD_OFF
        if batch.epoch != self._hold_off.epoch:
            return rtt_ns, _RATE_CHANGED
        self.cc.on_sample(Sample(rtt_ns, now, self._acked_bytes, inflight_bytes))
        self._acked_bytes = 0
        self._awaits_first_window = False
        return rtt_ns, _ACCEPTED

    def _start_epoch(self) -> None:
        self._hold_off.restart()
        if self._estimator is not None:
            self._estimator.on_rate_change()
