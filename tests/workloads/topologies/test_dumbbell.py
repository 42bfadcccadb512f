"""The dumbbell."""

from rogue.workloads.topologies.dumbbell import Dumbbell

DUMBBELL = Dumbbell.model_validate({"hosts_per_side": 3, "rate": "10Gbps", "bottleneck_rate": "4Gbps"})


def test_left_to_right_crosses_the_bottleneck() -> None:
    assert [link.rate_bps for link in DUMBBELL.path("h0", "h5")] == [10**10, 4 * 10**9, 10**10]
    assert len(DUMBBELL.path("h0", "h2")) == 2


def test_senders_on_the_left_first() -> None:
    placement = DUMBBELL.placement(has_probe=True)
    assert placement.senders[:3] == ("h0", "h1", "h2")
    assert (placement.receiver, DUMBBELL.probe_host()) == ("h5", "h4")
