"""Which limiter a flow has, where there are enough and where there are not."""

from pathlib import Path

import pytest
from helpers.experiments import cell_of

from rogue.harness.cell.demand import PlannedFlow
from rogue.harness.testbeds.ends.requests import prepare_request
from rogue.harness.testbeds.ends.roles import (
    PRIORITIES,
    LimiterClass,
    can_take_turns,
    limited_flows,
    limiter_classes,
    limiters_of,
    plan_roles,
    short_of,
)

FAST = "topology.rate=10Gbps"


def flows(tmp_path: Path, *settings: str, host: str = "h0") -> list[PlannedFlow]:
    """Those with rates that leave a host."""
    return limited_flows(cell_of(tmp_path, FAST, "probe=null", *settings))[host]


def many(peers: int, verb: str = "write") -> tuple[str, ...]:
    workload = f"{{kind: many_pairs, hosts: {peers + 1}, load: 0.5, arrive_for: 1s, verb: {verb}}}"
    return f"topology.hosts={peers + 1}", f"workload={workload}", "transports=[rogue]"


def test_as_long_as_there_are_enough_each_has_its_own(tmp_path: Path) -> None:
    own = flows(tmp_path, *many(7))
    assert limiter_classes(own, PRIORITIES) == [LimiterClass(number) for number in range(1, 8)]
    assert short_of("h0", own, PRIORITIES) is None


def test_then_all_take_turns_at_all(tmp_path: Path) -> None:
    own = flows(tmp_path, *many(8))
    assert limiter_classes(own, PRIORITIES) == [LimiterClass(1, (1, 2, 3, 4, 5, 6, 7))] * 8
    assert limiter_classes(own, 2) == [LimiterClass(1, (1, 2))] * 8
    assert short_of("h0", own, 1) is None


def test_those_that_cannot_take_turns_keep_a_limiter_each(tmp_path: Path) -> None:
    own = flows(tmp_path, *many(3))
    reads = flows(tmp_path, *many(3, "read"))
    unreliable = flows(tmp_path, *many(3), "transports=[rogue-uc]")
    assert [can_take_turns(each[0]) for each in (own, reads, unreliable)] == [True, False, False]
    mixed = [own[0], reads[0], own[1], unreliable[0]]
    turns = LimiterClass(3, (3,))
    assert limiter_classes(mixed, 3) == [turns, LimiterClass(1), turns, LimiterClass(2)]
    assert short_of("h0", mixed, 3) is None
    assert short_of("h0", mixed, 2) == (
        "h0 sends 4 flows that have rates of their own, and its card has 2 limiters for them: 2 respond to "
        "READs or go over unreliable connections, which keep a limiter each and take no turns; let it send "
        "fewer of these"
    )
    assert short_of("h0", reads, 2) is not None
    assert short_of("h0", reads, 3) is None


def test_where_all_is_held_back_by_software_flows_may_share(tmp_path: Path) -> None:
    unreliable = flows(tmp_path, *many(3), "transports=[rogue-uc]")
    assert limiter_classes(unreliable, 2) == [LimiterClass(1), LimiterClass(2), LimiterClass(1)]


def test_the_experiment_may_allow_fewer(tmp_path: Path) -> None:
    cell = cell_of(tmp_path, FAST, *many(3), "probe=null", "topology.nic_limiters=2")
    assert limiters_of(cell.topology) == 2
    assert {flow.limiter for flow in plan_roles(cell)} == {LimiterClass(1, (1, 2))}


@pytest.mark.parametrize(("limiter", "turns"), [("htb", [1, 2]), ("dcb", [1, 2]), ("software", [])])
def test_an_agent_is_told_of_turns_where_something_can_be_lent(
    tmp_path: Path, limiter: str, turns: list[int]
) -> None:
    cell = cell_of(tmp_path, FAST, *many(3), "probe=null", "topology.nic_limiters=2")
    flow = plan_roles(cell)[0]
    asked = prepare_request((flow, "requester"), "10.9.0.1", limiter, cell.timing, 1)
    assert (asked.priority, asked.turns) == (1, turns)
    assert prepare_request((flow, "responder"), "10.9.0.1", limiter, cell.timing, 1).turns == []
