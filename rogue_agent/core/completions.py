"""What a completion queue entry says, as the fields of `ibv_wc` that the core reads."""

from typing import TypeAlias

from rogue.agent.core.clocks import NicNs

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
    """Return the name that `ibv_wc_status` gives a number."""
    return STATUS_NAMES[status] if 0 <= status < len(STATUS_NAMES) else f"ibv_wc_status {status}"
