"""How large RoCE's packets can be on an Ethernet of some MTU."""

from typing import Final

PAYLOADS_BYTES: Final = (4096, 2048, 1024, 512, 256)
HEADERS_BYTES: Final = 96
"""What Linux keeps free of an MTU: GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4.

Source: Linux, include/rdma/ib_addr.h (`iboe_get_mtu`), by which mlx4 and mlx5 say what a port does."""


def payload_bytes(ip_mtu_bytes: int) -> int:
    """The largest payload that fits."""
    fitting = (size for size in PAYLOADS_BYTES if least_ip_mtu_bytes(size) <= ip_mtu_bytes)
    return next(fitting, PAYLOADS_BYTES[-1])


def least_ip_mtu_bytes(rdma_payload_bytes: int) -> int:
    """The smallest MTU into which a payload fits."""
    return rdma_payload_bytes + HEADERS_BYTES
