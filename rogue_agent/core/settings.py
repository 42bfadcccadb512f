"""Settings of a transport, and instruments for labelled ablations."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rogue.agent.core.cc.base import CongestionControlParameters
from rogue.agent.core.errors import ContradictionError
from rogue.agent.core.parameters import Parameters, at_least, between


class Instruments(NamedTuple):
    """Hooks for labelled ablations: exact departure times and RTT noise, which verbs do not offer.

    random: uniform numbers in [0, 1), for RTT noise.
    left_ns: departure of the last byte of a signalled verb, on the NIC's clock.
    """

    random: Callable[[], float] | None = None
    left_ns: Callable[[int], float] | None = None


NO_INSTRUMENTS = Instruments()


@dataclass(frozen=True, slots=True)
class TransportSettings(Parameters):
    """Settings of one connection.

    transport: the registry name it was made from.
    service: "rc" for a reliable connection, "uc" for an unreliable one.
    cc: the congestion control's registry name.
    cc_parameters: the congestion control's own parameters.
    estimator: the RTT estimator's registry name; None: no RTT samples.
    rtt_noise_ns: an ablation: upper bound of a uniform random time added to each sample.
    segment_bytes: length of a verb cut from a larger transfer, and the bytes that one signal covers.
    batches_min: an ablation: batches that may be posted regardless of the window; RoGUE has two.
    first_window: an ablation: the first verb is one initial window at line rate, and others wait for it.
    limiter_write_ns: an ablation of simulations: time from a request to the limiter until the card has it,
    except for the first request.
    hold_off_bytes: bytes to post after a change of the limiter before samples count again.
    rate_change_max_bps: largest change of the limiter by one request.
    send_queue_verbs: verbs of a lane in the send queue; at least `batches_min` batches must fit.
    retry_count, timeout_exponent: the queue pair's attributes; the NIC waits 4.096 us * 2^timeout_exponent
    for an ACK.
    has_shadow: a second queue pair takes over when the first one fails.
    resync_wait_ns, resync_wait_max_ns, resync_limit_ns: first, longest and total wait for the peer's reply
    about a lost queue pair.
    flush_timeout_ns: longest wait for completions after a queue pair failed.
    acknowledgement_wait_ns, acknowledgement_wait_max_ns: over UC, shortest wait for an acknowledgement of the
    peer's library, and longest after repeated timeouts.
    """

    transport: str
    service: Literal["rc", "uc"]
    cc: str
    cc_parameters: CongestionControlParameters
    estimator: str | None
    segment_bytes: int = field(metadata=between(256, 2**31))
    retry_count: int = field(metadata=between(0, 7))
    rtt_noise_ns: int = field(default=0, metadata=at_least(0))
    batches_min: int = field(default=2, metadata=between(1, 64))
    first_window: bool = False
    limiter_write_ns: int = field(default=0, metadata=between(0, 1_000_000_000))
    hold_off_bytes: int = field(default=160_000, metadata=at_least(0))
    rate_change_max_bps: int = field(default=1_000_000_000, metadata=at_least(1))
    send_queue_verbs: int = field(default=512, metadata=between(2, 32_768))
    timeout_exponent: int = field(default=14, metadata=between(0, 31))
    has_shadow: bool = False
    resync_wait_ns: int = field(default=10_000_000, metadata=at_least(1))
    resync_wait_max_ns: int = field(default=1_000_000_000, metadata=at_least(1))
    resync_limit_ns: int = field(default=30_000_000_000, metadata=at_least(1))
    flush_timeout_ns: int = field(default=1_000_000_000, metadata=at_least(1))
    acknowledgement_wait_ns: int = field(default=1_000_000, metadata=at_least(1))
    acknowledgement_wait_max_ns: int = field(default=64_000_000, metadata=at_least(1))

    def check(self) -> None:
        """Raise SettingsError unless first waits are at most the longest, and the least batches fit."""
        for name in ("resync_wait", "acknowledgement_wait"):
            first_ns, most_ns = getattr(self, f"{name}_ns"), getattr(self, f"{name}_max_ns")
            if first_ns > most_ns:
                raise ContradictionError(f"{name}_ns", first_ns, f"{name}_max_ns", most_ns)
        if self.batches_min > self.send_queue_verbs:
            raise ContradictionError(
                "batches_min", self.batches_min, "send_queue_verbs", self.send_queue_verbs
            )

    @property
    def has_batch_acknowledgements(self) -> bool:
        """True if the peer's library acknowledges each batch, which RTT samples over UC need."""
        return self.service == "uc" and self.estimator is not None
