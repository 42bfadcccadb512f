"""The kind of workload, as it is written."""

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.collective import Collective

HOSTS = Placement(tuple(f"h{number}" for number in range(6)), "h5", 9.26e9, 10_000_000_000)


def collective(**changes: object) -> Collective:
    return Collective.model_validate({"kind": "collective", "hosts": 4, "size": "4KB", **changes})


def test_the_first_hosts_take_part_each_from_its_own_time_on() -> None:
    flows = collective().flows(HOSTS, 1)
    assert {flow.source for flow in flows} == {"h0", "h1", "h2", "h3"}
    assert len({flow.start_ns for flow in flows}) == 4
    assert all(0 <= flow.start_ns <= 10_000 for flow in flows)


def test_a_rank_begins_again_when_it_has_what_it_needs() -> None:
    """Two all-gathers of 3 steps each: the fourth transfer waits for the last that came in the first."""
    second = collective(operation="all_gather", iterations=2).flows(HOSTS, 1)[1]
    assert [arrival.after[0][:3] for arrival in second.arrivals[1:]] == [
        ("h0->h1", number, "arrival") for number in range(5)
    ]


@pytest.mark.parametrize(
    ("operation", "iterations", "moved"),
    [("all_reduce", 1, 6000), ("all_reduce", 3, 18000), ("all_gather", 1, 3000), ("reduce_scatter", 1, 3000)],
)
def test_bus_bytes_worked_example(operation: str, iterations: int, moved: int) -> None:
    """4000 bytes over 4 ranks: 2 * 3/4 of them in an all-reduce, 3/4 in the others."""
    assert collective(operation=operation, iterations=iterations).bus_bytes == moved


def test_unequal_parts_have_no_bus_bandwidth() -> None:
    assert collective(operation="all_to_all").bus_bytes == 3000
    assert collective(operation="all_to_all", skew=1.0).bus_bytes is None
    assert collective(operation="mixture_of_experts").bus_bytes is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"operation": "all_gather", "algorithm": "tree"}, "one of ring for all_gather"),
        ({"size": "3B"}, "a byte or more for each piece of each host"),
        ({"size": "7B", "pieces": 2}, "a byte or more for each piece of each host"),
        ({"skew": 1.0}, "a skew of 0 but for all_to_all and mixture_of_experts"),
        ({"operation": "all_to_all", "algorithm": "ring"}, "one of direct for all_to_all"),
        ({"hosts": 1}, "greater than or equal to 2"),
        ({"verb": "read"}, "'write' or 'send'"),
        ({"hosts": 64, "pieces": 1000, "iterations": 1000, "size": "1GB"}, "at most 2500000 transfers"),
    ],
)
def test_impossible_ones_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        collective(**changes)
