"""Five slow and two fast sources."""

from rogue.workloads.topologies.asymmetric_fan_in import AsymmetricFanIn

NETWORK = AsymmetricFanIn.model_validate({})


def test_nine_hosts_three_switches_eleven_links() -> None:
    assert (len(NETWORK.host_names()), len(NETWORK.switch_names()), len(NETWORK.links())) == (9, 3, 11)


def test_the_sources_are_the_senders() -> None:
    placement = NETWORK.placement(has_probe=True)
    assert (placement.receiver, NETWORK.probe_host()) == ("h8", "h7")
    rates = [NETWORK.host_rate_bps(host) // 10**9 for host in placement.senders]
    assert rates == [40] * 5 + [100] * 2


def test_everyone_meets_at_the_receiver() -> None:
    assert [link.rate_bps // 10**9 for link in NETWORK.path("h0", "h8")] == [40, 100, 100]
    assert [link.rate_bps // 10**9 for link in NETWORK.path("h6", "h8")] == [100, 100, 100]
