"""Ports of Linux switches, as a network asks for them."""

import pytest

from rogue.harness.cell.network_asked import PortAsked
from rogue.harness.testbeds.ends.linux_ports import linux_ports


@pytest.mark.parametrize(
    ("buffer_bytes", "alpha", "queue_bytes"),
    [(9_000_000, 1.0, 4_500_000), (9_000_000, 2.0, 6_000_000), (1, 0.5, 1), (None, 1.0, 10**9)],
)
def test_a_port_holds_what_it_could_hold_alone(
    buffer_bytes: int | None, alpha: float, queue_bytes: int
) -> None:
    """alpha / (1 + alpha) of the buffer: half of it with 1, two thirds with 2."""
    (port,) = linux_ports({"s0->h0": PortAsked(10**10, 1_000, buffer_bytes, alpha)}).values()
    assert (port.rate_bps, port.queue_bytes, port.red_max_bytes) == (10**10, queue_bytes, None)
