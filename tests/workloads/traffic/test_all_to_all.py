"""A shuffle."""

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.all_to_all import AllToAll

HOSTS = Placement(tuple(f"h{index}" for index in range(9)), "h8", 9.26e9, 10_000_000_000)


def test_each_ordered_pair_once() -> None:
    flows = AllToAll.model_validate({"hosts": 5, "size": "1MB"}).flows(HOSTS, 1)
    found = {(flow.source, flow.destination) for flow in flows}
    assert len(flows) == len(found) == 20
    assert {a for a, _ in found} == {"h0", "h1", "h2", "h3", "h4"}
