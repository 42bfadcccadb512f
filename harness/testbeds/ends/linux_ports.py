"""Ports of Linux switches, with the rate and the queue that a network asks for."""

from collections.abc import Mapping
from typing import Final

from rogue.harness.cell.network_asked import PortAsked
from rogue.harness.provisioning.ports import PortSettings

_UNBOUNDED_BYTES: Final = 1_000_000_000


def linux_ports(asked: Mapping[str, PortAsked]) -> dict[str, PortSettings]:
    """Settings by port; delays and bursts are each testbed's own.

    Deviation: a Linux switch has no buffer that its ports share. Each port gets what it could hold alone,
    alpha / (1 + alpha) of the buffer, which is where a single congested port settles.
    """
    return {
        name: PortSettings(rate_bps=port.rate_bps, queue_bytes=_queue_bytes(port))
        for name, port in asked.items()
    }


def _queue_bytes(port: PortAsked) -> int:
    if port.buffer_bytes is None:
        return _UNBOUNDED_BYTES
    return max(1, int(port.buffer_bytes * port.alpha / (1 + port.alpha)))
