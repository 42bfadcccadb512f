"""Tests: collective operations."""

from collections import Counter

import pytest
from pydantic import ValidationError

from rogue.workloads.topologies import Placement
from rogue.workloads.traffic.collective import Collective
from rogue.workloads.traffic.collective_algorithms import ALGORITHMS, Operation, shares, split
from rogue.workloads.traffic.transfer_steps import Step, Steps
from rogue.workloads.traffic.workload import Flow

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


COLLECTIVES_HOSTS = [f"h{number_of_collectives}" for number_of_collectives in range(5)]


def flows_of(operation: Operation, name: str, size_bytes: int = 1000, pieces: int = 1) -> tuple[Flow, ...]:
    steps = Steps()
    ready = [Step(least_ns=rank) for rank in range(len(COLLECTIVES_HOSTS))]
    ALGORITHMS[operation, name](COLLECTIVES_HOSTS, size_bytes, pieces, 7).add(steps, ready)
    return steps.flows("write")


def sent_bytes(flows: tuple[Flow, ...]) -> Counter[str]:
    sent: Counter[str] = Counter()
    for flow in flows:
        sent[flow.source] += flow.finite_bytes
    return sent


def test_parts_differ_by_a_byte() -> None:
    assert split(11, 4) == [3, 3, 3, 2]
    assert sum(split(10**9 + 7, 64)) == 10**9 + 7


@pytest.mark.parametrize(
    ("operation", "steps"), [("all_reduce", 8), ("reduce_scatter", 4), ("all_gather", 4)]
)
def test_on_a_ring_each_host_sends_a_block_per_step_to_the_next(operation: Operation, steps: int) -> None:
    """Of 1000 bytes over 5 hosts: 200 per step, 2(n - 1) steps of an all-reduce."""
    flows = flows_of(operation, "ring")
    assert [flow.ends for flow in flows] == ["h0->h1", "h1->h2", "h2->h3", "h3->h4", "h4->h0"]
    assert sent_bytes(flows) == dict.fromkeys(COLLECTIVES_HOSTS, steps * 200)
    for place, flow in enumerate(flows):
        first, *others = flow.arrivals
        assert first.after == ()
        assert first.start_ns == place
        before = flows[place - 1].ends
        reduced = 0 if operation == "all_gather" else 4
        assert [each.after for each in others] == [
            ((before, number, "arrival", 7 if number < reduced else 0),) for number in range(steps - 1)
        ]


def test_on_a_ring_blocks_go_round() -> None:
    """With 1003 bytes blocks 0 to 2 are a byte larger; step t of rank r has block r - t."""
    second = flows_of("all_reduce", "ring", 1003)[1]
    assert [each.size_bytes for each in second.arrivals] == [201, 201, 200, 200, 201, 201, 201, 200]


def test_pieces_on_a_ring_wait_for_their_own_like() -> None:
    flow = flows_of("reduce_scatter", "ring", pieces=2)[0]
    assert [each.size_bytes for each in flow.arrivals] == [100] * 8
    assert [each.after[0].number for each in flow.arrivals[2:]] == [0, 1, 2, 3, 4, 5]


def test_on_a_tree_sums_go_up_and_the_result_comes_down() -> None:
    """h3 and h4 are below h1, h1 and h2 below h0."""
    flows = {flow.ends: flow.arrivals for flow in flows_of("all_reduce", "tree")}
    assert set(flows) == {
        *(
            f"{child}->{parent}"
            for child, parent in zip(("h1", "h2", "h3", "h4"), ("h0", "h0", "h1", "h1"), strict=True)
        ),
        *(
            f"{parent}->{child}"
            for child, parent in zip(("h1", "h2", "h3", "h4"), ("h0", "h0", "h1", "h1"), strict=True)
        ),
    }
    assert {each.size_bytes for line in flows.values() for each in line} == {1000}
    assert {each.flow for each in flows["h1->h0"][0].after} == {"h3->h1", "h4->h1"}
    assert {each.flow for each in flows["h0->h2"][0].after} == {"h1->h0", "h2->h0"}
    assert flows["h1->h3"][0].after == (("h0->h1", 0, "arrival", 0),), "a result needs no computing"


def test_parts_of_a_skewed_exchange_worked_example() -> None:
    """1, 1/2, 1/3 and 1/4 of 25/12: 480, 240, 160 and 120 of 1000 bytes; without skew a quarter each."""
    assert shares(1000, 4, 1.0) == [480, 240, 160, 120]
    assert shares(1000, 4, 0.0) == [250] * 4
    assert shares(2, 4, 3.0) == [2, 1, 1, 1], "every host gets something"


def test_in_an_all_to_all_nobody_waits() -> None:
    flows = flows_of("all_to_all", "direct")
    assert len(flows) == 20
    assert sent_bytes(flows) == dict.fromkeys(COLLECTIVES_HOSTS, 800)
    assert not any(arrival.after for flow in flows for arrival in flow.arrivals)


def test_an_expert_sends_back_when_it_has_everything() -> None:
    flows = {flow.ends: flow.arrivals for flow in flows_of("mixture_of_experts", "direct")}
    there, back = flows["h1->h0"]
    assert (there.after, there.size_bytes, back.size_bytes) == ((), 200, 200)
    assert {each[:3] for each in back.after} == {
        (f"{host}->h1", 0, "arrival") for host in COLLECTIVES_HOSTS if host != "h1"
    }
    assert {each.pause_ns for each in back.after} == {7}


@pytest.mark.parametrize("key", ALGORITHMS)
def test_what_a_host_waits_for_it_can_know(key: tuple[Operation, str]) -> None:
    """Each waits for earlier transfers to or from the same host, so no transfer is stuck."""
    flows = {flow.ends: flow for flow in flows_of(*key, pieces=2)}
    for flow in flows.values():
        for arrival in flow.arrivals:
            for each in arrival.after:
                before = flows[each.flow]
                knows = before.destination if each.moment == "arrival" else before.source
                assert knows == flow.source
