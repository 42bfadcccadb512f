"""The constants of IRN's default case follow from its network."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.testbeds.simulator.round_trip import empty_round_trip
from rogue.workloads.topologies import TOPOLOGIES

TREE = TOPOLOGIES["fat_tree"].model_validate({"k": 6, "rate": "40Gbps", "delay": "2us"})

DEFAULT_CASE = """\
name: x
topology: {kind: fat_tree, k: 6, rate: 40Gbps, delay: 2us, delay_spread: 0ns, switch: voq, buffer: 240KB}
workload: {kind: poisson, load: 0.7, sizes: irn, arrive_for: 1ms}
transports: [irn]
"""


def test_round_trip_and_bandwidth_delay_product() -> None:
    """Six links of 2 us each way; 40 Gb/s of 24 us are 120 KB, which are 110 frames of 1086 bytes."""
    rtt_ns = 2 * sum(link.delay_ns for link in TREE.path("h0", "h53"))
    bdp_bytes = 40 * rtt_ns // 8
    assert (rtt_ns, bdp_bytes, bdp_bytes // 1086) == (24_000, 120_000, 110)


def test_the_long_timeout(tmp_path: Path) -> None:
    """The round trip and six full input buffers of 240 KB that leave over one port: about 320 us.

    Ours counts packets' own times too: 115 packets and 313 us, for the paper's 110 and 320.
    """
    way = empty_round_trip(cell_of(tmp_path, text=DEFAULT_CASE))
    assert (way.packets, way.full_buffer_ns) == (115, 288_000)
    assert way.round_trip_ns + 288_000 == pytest.approx(320_000, rel=0.03)
