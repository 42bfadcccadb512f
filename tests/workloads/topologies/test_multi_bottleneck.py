"""Five pairs over one link, and a sixth flow to the first receiver."""

from rogue.workloads.topologies.multi_bottleneck import MultiBottleneck

NETWORK = MultiBottleneck.model_validate({})


def test_eleven_hosts_two_switches_twelve_links() -> None:
    assert (len(NETWORK.host_names()), len(NETWORK.switch_names()), len(NETWORK.links())) == (11, 2, 12)


def test_the_pairs_cross_the_link_and_the_sixth_does_not() -> None:
    assert [link.rate_bps for link in NETWORK.path("h0", "h5")] == [10**10, 4 * 10**10, 10**10]
    assert [(link.a, link.b) for link in NETWORK.path("h10", "h5")] == [("h10", "s1"), ("h5", "s1")]
