"""Flows that come and go."""

from rogue.workloads.streams import START_JITTER_NS
from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.staggered import Staggered

HOSTS = Placement(tuple(f"h{index}" for index in range(6)), "h5", 9.26e9, 10_000_000_000)
SECOND_NS = 1_000_000_000


def test_one_to_five_and_back() -> None:
    workload = Staggered.model_validate({"step": "10s"})
    assert workload.duration_ns == 90 * SECOND_NS
    spans = [(flow.start_ns, flow.repeat_until_ns) for flow in workload.flows(HOSTS, 1)]
    for index, (start_ns, until_ns) in enumerate(spans):
        assert 0 <= start_ns - index * 10 * SECOND_NS <= START_JITTER_NS
        assert until_ns == (90 - index * 10) * SECOND_NS
    middles_ns = [(10 * step + 5) * SECOND_NS for step in range(9)]
    active = [sum(start < now < (until or 0) for start, until in spans) for now in middles_ns]
    assert active == [1, 2, 3, 4, 5, 4, 3, 2, 1]
