"""What a Connection asks its driver to do, in the order in which it must be done."""

from typing import NamedTuple, TypeAlias

from rogue_agent.core.clocks import HostNs


class PostSend(NamedTuple):
    """Post one RDMA WRITE verb; answer with `on_posted`, or with `on_post_refused`.

    `offset_bytes` is the verb's place in its transfer. A signalled verb is the last one of a batch.
    """

    wr_id: int
    transfer_id: int
    offset_bytes: int
    length_bytes: int
    signaled: bool


class SetRate(NamedTuple):
    """Program the limiter; before anything else, answer with `on_rate_set` and the rate really applied."""

    rate_bps: int


class TransferDone(NamedTuple):
    """A transfer ended; said exactly once per transfer.

    `acked_bytes` were acknowledged in order from the transfer's start; all of them when `is_ok`.
    """

    transfer_id: int
    is_ok: bool
    acked_bytes: int


class QueuePairFailed(NamedTuple):
    """The queue pair is lost, said once.

    `wr_id` and `status` (an `ibv_wc_status`) are those of the first failing completion, None if the loss
    became known in another way.
    """

    wr_id: int | None
    status: int | None


class Trace(NamedTuple):
    """An RTT sample and what the congestion control made of it; only with tracing on.

    `limiter_bps` is the rate in force when the batch completed, `reason` the value of a `SampleVerdict`,
    `metrics` those of the congestion control after the sample.
    """

    t_ns: HostNs
    wr_id: int
    rtt_ns: float
    limiter_bps: int
    reason: str
    metrics: dict[str, float]


Action: TypeAlias = PostSend | SetRate | TransferDone | QueuePairFailed | Trace
