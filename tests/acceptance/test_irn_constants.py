"""The constants of IRN's default case follow from its network."""

from workloads.topologies import TOPOLOGIES

TREE = TOPOLOGIES["fat_tree"].model_validate({"k": 6, "rate": "40Gbps", "delay": "2us"})


def test_round_trip_and_bandwidth_delay_product() -> None:
    """Six links of 2 us each way; 40 Gb/s of 24 us are 120 KB, which are 110 frames of 1086 bytes."""
    rtt_ns = 2 * sum(link.delay_ns for link in TREE.path("h0", "h53"))
    bdp_bytes = 40 * rtt_ns // 8
    assert (rtt_ns, bdp_bytes, bdp_bytes // 1086) == (24_000, 120_000, 110)


def test_the_long_timeout() -> None:
    """The round trip and six full input buffers of 240 KB that leave over one port: 312, about 320 us."""
    ports = {len(TREE.links_of[switch]) for switch in TREE.switch_names()}
    assert ports == {6}
    assert 24_000 + 6 * 240_000 * 8 // 40 == 312_000
