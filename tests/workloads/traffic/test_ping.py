"""One verb at a time."""

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.ping import Ping

HOSTS = Placement(("h0", "h1", "h2"), "h2", 9.26e9, 10_000_000_000)


def test_a_thousand_reads_between_two_hosts() -> None:
    (flow,) = Ping.model_validate({"size": "64B"}).flows(HOSTS, 1)
    assert (flow.source, flow.destination, flow.verb) == ("h0", "h2", "read")
    assert (flow.size_bytes, flow.count, flow.arrivals) == (64, 1_000, ())
