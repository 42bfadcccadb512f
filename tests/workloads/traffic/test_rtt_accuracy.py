"""One flow alone."""

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.rtt_accuracy import RttAccuracy

HOSTS = Placement(("h0", "h1", "h2"), "h2", 9.26e9, 10_000_000_000)


def test_one_flow_for_a_while() -> None:
    workload = RttAccuracy.model_validate({"run_for": "2s", "verb": "write"})
    (flow,) = workload.flows(HOSTS, 1)
    assert (flow.source, flow.destination, flow.verb) == ("h0", "h2", "write")
    assert (flow.count, flow.repeat_until_ns, workload.duration_ns) == (None, 2_000_000_000, 2_000_000_000)
