"""Completions that a connection receives, and actions that its driver carries out."""

from typing import Literal, NamedTuple, TypeAlias

from rogue.agent.core.clocks import HostNs, NicNs

Completion: TypeAlias = tuple[int, int, NicNs, int, int | None]
"""(wr_id, status, NIC timestamp, byte_len, immediate value or None), in the order of the completion queue."""

SUCCESS = 0
WR_FLUSH_ERR = 5
RETRY_EXC_ERR = 12

STATUS_NAMES = (
    "IBV_WC_SUCCESS",
    "IBV_WC_LOC_LEN_ERR",
    "IBV_WC_LOC_QP_OP_ERR",
    "IBV_WC_LOC_EEC_OP_ERR",
    "IBV_WC_LOC_PROT_ERR",
    "IBV_WC_WR_FLUSH_ERR",
    "IBV_WC_MW_BIND_ERR",
    "IBV_WC_BAD_RESP_ERR",
    "IBV_WC_LOC_ACCESS_ERR",
    "IBV_WC_REM_INV_REQ_ERR",
    "IBV_WC_REM_ACCESS_ERR",
    "IBV_WC_REM_OP_ERR",
    "IBV_WC_RETRY_EXC_ERR",
    "IBV_WC_RNR_RETRY_EXC_ERR",
    "IBV_WC_LOC_RDD_VIOL_ERR",
    "IBV_WC_REM_INV_RD_REQ_ERR",
    "IBV_WC_REM_ABORT_ERR",
    "IBV_WC_INV_EECN_ERR",
    "IBV_WC_INV_EEC_STATE_ERR",
    "IBV_WC_FATAL_ERR",
    "IBV_WC_RESP_TIMEOUT_ERR",
    "IBV_WC_GENERAL_ERR",
)


def status_name(status: int) -> str:
    """Return the name of a value of `ibv_wc_status`."""
    return STATUS_NAMES[status] if 0 <= status < len(STATUS_NAMES) else f"ibv_wc_status {status}"


Verb: TypeAlias = Literal["write", "read", "send"]
"""RDMA WRITE, RDMA READ, or SEND."""

NO_TRANSFER = -1


class PostSend(NamedTuple):
    """Post one verb to the active queue pair; the driver then calls `on_posted`, or `on_post_refused`.

    `offset_bytes` is the verb's place in its transfer; `transfer_id` is NO_TRANSFER for the agent's own
    messages. A signalled verb is the last one of a batch. A WRITE or SEND can carry an immediate `imm`.
    """

    wr_id: int
    transfer_id: int
    offset_bytes: int
    length_bytes: int
    signaled: bool
    verb: Verb = "write"
    imm: int | None = None


class SetRate(NamedTuple):
    """Set the active queue pair's limiter; the driver then calls `on_rate_set` before any other input."""

    rate_bps: int


class TransferDone(NamedTuple):
    """A transfer ended; reported exactly once per transfer.

    `acked_bytes` were acknowledged in order from the transfer's start, all of them if `is_ok`. `is_sent`: the
    NIC got at least its first verb.
    """

    transfer_id: int
    is_ok: bool
    acked_bytes: int
    is_sent: bool = True


class QueuePairFailed(NamedTuple):
    """The active queue pair is lost; reported once per loss.

    `wr_id` and `status` (an `ibv_wc_status`) are those of the first failing completion, None without one.
    """

    wr_id: int | None
    status: int | None


class SwitchToShadow(NamedTuple):
    """Later verbs and rates are for this queue pair, which is ready.

    `again_bytes` is the payload that was posted, did not complete, and is posted again.
    """

    qp_num: int
    again_bytes: int


class ResetQueuePair(NamedTuple):
    """Bring our end to RESET before any other action; its completions no longer count."""

    qp_num: int


class ReadyQueuePair(NamedTuple):
    """Bring our end from RESET to RTS with these packet numbers."""

    qp_num: int
    sq_psn: int
    rq_psn: int


class SendPeer(NamedTuple):
    """Send a datagram to the other end's library; the network may lose, repeat or reorder it."""

    payload: bytes


class ConnectionFailed(NamedTuple):
    """The connection is lost; reported once, before its transfers fail."""

    reason: str


class RttSample(NamedTuple):
    """A row of the table `rtt`; the fields are its columns.

    `limiter_bps` is the rate after the sample, `reason` the value of a `SampleVerdict`. `overruled`: the
    window after the sample is smaller than the floor of two batches.
    """

    t_ns: HostNs
    wr_id: int
    rtt_ns: int
    base_rtt_ns: int | None
    cwnd_packets: float
    limiter_bps: int
    accepted: bool
    reason: str
    overruled: bool


class Trace(NamedTuple):
    """An RTT sample, and the metrics of the congestion control after it; only with tracing on.

    `rtt_ns` is the sample's, before rounding.
    """

    sample: RttSample
    rtt_ns: float
    metrics: dict[str, float]


RecoveryAction: TypeAlias = SwitchToShadow | ResetQueuePair | ReadyQueuePair | SendPeer | ConnectionFailed
Action: TypeAlias = PostSend | SetRate | TransferDone | QueuePairFailed | Trace | RecoveryAction
