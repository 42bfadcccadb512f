"""The paper's testbed."""

from rogue.workloads.topologies.paper_testbed import PaperTestbed

TESTBED = PaperTestbed.model_validate({})


def test_four_to_one_oversubscription() -> None:
    rates = {(link.a, link.b): link.rate_bps for link in TESTBED.links()}
    for rack in ("s0", "s1"):
        hosts_bps = sum(rate for ends, rate in rates.items() if ends[1] == rack)
        assert (hosts_bps, rates[rack, "s2"]) == (160_000_000_000, 40_000_000_000)


def test_an_incast_stays_in_one_rack_as_long_as_it_fits() -> None:
    placement = TESTBED.placement(has_probe=True)
    assert placement.receiver == "h15"
    assert all(len(TESTBED.path(sender, "h15")) == 2 for sender in placement.senders[:14])
    assert len(TESTBED.path(placement.senders[14], "h15")) == 4


def test_without_a_probe_the_first_sixteen_are_one_rack() -> None:
    placement = TESTBED.placement(has_probe=False)
    assert placement.hosts[:16] == tuple(f"h{index}" for index in range(16))
    assert placement.receiver == "h15"
