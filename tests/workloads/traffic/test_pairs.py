"""Flows that are listed."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.pairs import Pairs

HOSTS = Placement(tuple(f"h{index}" for index in range(4)), "h3", 9.26e9, 10_000_000_000)


def pairs(*flows: dict[str, object]) -> Pairs:
    return Pairs.model_validate({"flows": list(flows), "run_for": "10ms"})


def test_a_greedy_one_and_one_with_a_rate_and_times() -> None:
    """3 Gb/s in transfers of 1 MB: one every 2.667 ms."""
    workload = pairs(
        {"source": "h0", "destination": "h3"},
        {"source": "h1", "destination": "h3", "offered": "3Gbps", "start": "2ms", "stop": "7ms"},
    )
    greedy, paced = workload.flows(HOSTS, 1)
    assert (greedy.interval_ns, greedy.repeat_until_ns) == (None, 10_000_000)
    assert (paced.interval_ns, paced.repeat_until_ns) == (2_666_666, 7_000_000)
    assert 2_000_000 <= paced.start_ns <= 2_010_000
    assert workload.duration_ns == 10_000_000


def test_it_needs_the_hosts_that_it_names() -> None:
    assert pairs({"source": "h7", "destination": "h3"}).hosts_min() == 2


def test_the_same_ends_twice() -> None:
    one = {"source": "h0", "destination": "h3"}
    assert [flow.number for flow in pairs(one, one).flows(HOSTS, 1)] == [0, 1]


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ({"source": "h0", "destination": "h0"}, "a host other than the source"),
        ({"source": "s0", "destination": "h0"}, "pattern"),
        ({"source": "h0", "destination": "h1", "start": "2ms", "stop": "1ms"}, "an instant after start"),
    ],
)
def test_impossible_ones_are_refused(pair: dict[str, object], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        pairs(pair)


@pytest.mark.parametrize(("offered", "is_possible"), [("8Gbps", True), ("8.1Gbps", False)])
def test_no_transfer_is_shorter_than_the_clock_can_tell(offered: str, is_possible: bool) -> None:
    flows = [{"source": "h0", "destination": "h1", "offered": offered}]
    written = {"flows": flows, "run_for": "10ms", "size": "1B"}
    if is_possible:
        assert Pairs.model_validate(written).flows(HOSTS, 1)[0].interval_ns == 1
    else:
        with pytest.raises(ValidationError, match="transfers that take a nanosecond or more"):
            Pairs.model_validate(written)
