"""A pretended RDMA device: its enumerations, its clock, and the memory registered with it."""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from types import SimpleNamespace


class FakeError(Exception):
    """Stands for pyverbs_error.PyverbsError."""


class Access(IntFlag):
    IBV_ACCESS_LOCAL_WRITE = 1
    IBV_ACCESS_REMOTE_WRITE = 2
    IBV_ACCESS_REMOTE_READ = 4


class WcFlags(IntFlag):
    IBV_WC_WITH_IMM = 2


class SendFlags(IntFlag):
    IBV_SEND_SIGNALED = 2


class Opcode(IntEnum):
    IBV_WR_RDMA_WRITE = 0
    IBV_WR_RDMA_WRITE_WITH_IMM = 1
    IBV_WR_SEND = 2
    IBV_WR_SEND_WITH_IMM = 3
    IBV_WR_RDMA_READ = 4


class QpType(IntEnum):
    IBV_QPT_RC = 2
    IBV_QPT_UC = 3
    IBV_QPT_UD = 4


class QpState(IntEnum):
    IBV_QPS_RESET = 0
    IBV_QPS_RTS = 3
    IBV_QPS_ERR = 6


class QpAttrMask(IntFlag):
    IBV_QP_STATE = 1
    IBV_QP_RQ_PSN = 1 << 12
    IBV_QP_SQ_PSN = 1 << 16


class CreateCqFlags(IntFlag):
    IBV_WC_EX_WITH_BYTE_LEN = 1
    IBV_WC_EX_WITH_IMM = 2
    IBV_WC_EX_WITH_SRC_QP = 8
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP = 128


class ValuesMask(IntFlag):
    IBV_VALUES_MASK_RAW_CLOCK = 1


@dataclass
class Context:
    name: str
    active_mtu: int = 5
    has_clock: bool = False
    has_timestamps: bool = False
    cycles: int = 0
    timestamp_mask: int = 2**63 - 1

    def __post_init__(self) -> None:
        if self.name not in ("rxe0", "mlx5_0"):
            raise FakeError(f"Failed to open device {self.name}")

    def query_device_ex(self) -> SimpleNamespace:
        return SimpleNamespace(
            hca_core_clock=427_000 if self.has_clock else 0, completion_timestamp_mask=self.timestamp_mask
        )

    def query_rt_values_ex(self, mask: int) -> tuple[int, int]:
        assert mask == ValuesMask.IBV_VALUES_MASK_RAW_CLOCK
        if not self.has_clock:
            raise FakeError("Failed to query rt values. Errno: 95, Operation not supported")
        self.cycles += 1
        return 0, self.cycles

    def query_port(self, port_num: int) -> SimpleNamespace:
        return SimpleNamespace(active_mtu=self.active_mtu)

    def close(self) -> None:
        """Nothing to give back."""


@dataclass
class ProtectionDomain:
    context: Context

    def close(self) -> None:
        """Nothing to give back."""


class MemoryRegion:
    def __init__(self, pd: ProtectionDomain, length: int, access: int, *, address: int) -> None:
        self.lkey = self.rkey = 0x1000 + address % 997
        self.address, self.length, self.access = address, length, access
        self.is_open = True

    def close(self) -> None:
        self.is_open = False
