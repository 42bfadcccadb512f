"""Two racks behind four leaves."""

from rogue.workloads.topologies.two_tier import TwoTier


def test_the_published_one() -> None:
    """Each rack: 24 hosts of 40 Gb/s, four uplinks of 40 Gb/s."""
    network = TwoTier.model_validate({})
    assert (len(network.host_names()), len(network.switch_names()), len(network.links())) == (48, 6, 48 + 8)
    uplinks = [link for link in network.links() if link.a == "s0"]
    assert [link.b for link in uplinks] == ["s2", "s3", "s4", "s5"]
    hosts_bps = sum(link.rate_bps for link in network.links() if link.b == "s0")
    assert hosts_bps / sum(link.rate_bps for link in uplinks) == 6


def test_four_paths_of_four_links_between_racks() -> None:
    network = TwoTier.model_validate({})
    assert len(network.path("h0", "h24")) == 4
    assert network.shortest_paths.count("h0", "h24") == 4
    assert network.shortest_paths.count("h0", "h23") == 1


def test_uplinks_may_be_faster() -> None:
    network = TwoTier.model_validate({"racks": 3, "leaves": 6, "uplink_rate": "100Gbps"})
    assert {link.rate_bps for link in network.links() if link.a in ("s0", "s1", "s2")} == {10**11}
