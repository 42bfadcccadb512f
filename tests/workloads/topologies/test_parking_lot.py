"""The parking lot."""

from rogue.workloads.topologies.parking_lot import ParkingLot

LOT = ParkingLot.model_validate({"rate": "10Gbps"})


def ports(source: str, destination: str) -> list[set[str]]:
    return [{link.a, link.b} for link in LOT.path(source, destination)]


def test_three_two_and_one_congested_links() -> None:
    assert ports("h0", "h5") == [{"h0", "s0"}, {"s0", "s1"}, {"s1", "s2"}, {"s2", "h5"}]
    assert ports("h1", "h5")[1:] == ports("h0", "h5")[1:]
    assert ports("h2", "h5") == [{"h2", "s1"}, {"s1", "s2"}, {"s2", "h5"}]
    assert ports("h3", "h5") == [{"h3", "s2"}, {"s2", "h5"}]


def test_four_senders_to_one_receiver_with_the_prober_beside_it() -> None:
    placement = LOT.placement(has_probe=True)
    assert (placement.senders, placement.receiver) == (("h0", "h1", "h2", "h3"), "h5")
    assert ports(LOT.probe_host(), "h5") == [{"h4", "s2"}, {"s2", "h5"}]


def test_all_links_are_equally_fast() -> None:
    assert {link.rate_bps for link in LOT.links()} == {10_000_000_000}
