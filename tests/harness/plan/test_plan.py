"""The plan: what the testbed says to each cell."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text
from helpers.fake_testbed import FakeTestbed

from rogue.harness.cell.cell import Cell
from rogue.harness.errors import ConfigError
from rogue.harness.plan.plan import Plan, cheapest_first, make_plan
from rogue.harness.testbeds.simulator import SimulatorTestbed


def plan(tmp_path: Path, transports: str, *settings: str) -> Plan:
    return make_plan(load_text(tmp_path, SMALL, f"transports={transports}", *settings), FakeTestbed())


def test_what_cannot_run_keeps_its_reason(tmp_path: Path) -> None:
    both = plan(tmp_path, "[rogue, roce+pfc]")
    assert [each.unsupported for each in both.cells] == [None, "the fake testbed has no switches"]
    assert [each.cell.id for each in both.runnable] == ["rogue-r1"]


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 9.0), (2, 4.5), (4, 2.25), (100, 1.5)])
def test_expected_time_is_never_below_one_cell(tmp_path: Path, jobs: int, seconds: float) -> None:
    assert plan(tmp_path, "[rogue, roce]", "repetitions=3").seconds(jobs) == seconds


def test_cheap_cells_come_first_within_each_repetition(tmp_path: Path) -> None:
    planned = plan(tmp_path, "[rogue, roce]", "repetitions=2").cells
    dear, cheap, dear_again, cheap_again = (
        replace(each, seconds=2.0 if each.cell.transport.shown == "rogue" else 1.0) for each in planned
    )
    assert cheapest_first([dear, cheap, dear_again, cheap_again]) == [cheap, dear, cheap_again, dear_again]


class Narrow(FakeTestbed):
    """A testbed that is one network of machines."""

    @property
    def jobs_max(self) -> int | None:
        return 1


def test_a_testbed_may_have_room_for_one_cell_only(tmp_path: Path) -> None:
    narrow = make_plan(load_text(tmp_path, SMALL, "repetitions=3"), Narrow())
    assert (narrow.jobs(8), narrow.seconds(8)) == (1, 9.0)
    assert plan(tmp_path, "[rogue, roce]").jobs(8) == 8


class Counting(FakeTestbed):
    """A testbed that notes which cells it was asked about, and refuses every other one."""

    def __init__(self, *, is_same: bool) -> None:
        self.is_same = is_same
        self.asked: list[str] = []

    def is_same_for_every_seed(self, cell: Cell) -> bool:
        return self.is_same

    def unsupported(self, cell: Cell) -> str | None:
        self.asked.append(cell.id)
        return "refused" if len(self.asked) % 2 else None


@pytest.mark.parametrize(
    ("is_same", "asked"),
    [
        (True, ["rogue-senders1-r1", "rogue-senders2-r1"]),
        (False, [f"rogue-senders{senders}-r{repetition}" for repetition in (1, 2, 3) for senders in (1, 2)]),
    ],
)
def test_repetitions_have_the_answer_of_the_first_if_seeds_do_not_matter(
    tmp_path: Path, is_same: bool, asked: list[str]
) -> None:
    testbed, counts = Counting(is_same=is_same), list[tuple[int, int, str]]()
    settings = "transports=[rogue]", "factors={workload.senders: [1, 2]}", "repetitions=3"
    made = make_plan(load_text(tmp_path, SMALL, *settings), testbed, lambda *count: counts.append(count))
    assert testbed.asked == asked
    assert [each.cell.id for each in made.runnable] == [f"rogue-senders2-r{index}" for index in (1, 2, 3)]
    assert {each.seconds for each in made.cells if each.unsupported} == {0.0}
    assert counts == [(done, 6, "planning cells") for done in range(1, 7)]


def test_a_cell_hangs_only_when_it_takes_far_longer_than_expected(tmp_path: Path) -> None:
    assert [each.limit_seconds for each in plan(tmp_path, "[rogue]").cells] == [600 + 50 * 1.5]


def test_nothing_to_run_takes_no_time(tmp_path: Path) -> None:
    assert plan(tmp_path, "[roce+pfc]").seconds(1) == 0


def test_wrong_parameter_is_a_mistake_of_the_file(tmp_path: Path) -> None:
    transports = "[roce, {name: rogue, colour: red}]"
    with pytest.raises(ConfigError) as caught:
        plan(tmp_path, transports, "repetitions=3")
    told = "transports[1].colour: got 'red', expected no colour; remove it."
    assert [str(problem) for problem in caught.value.problems] == [f"--set transports={transports}: {told}"]


@pytest.mark.parametrize("transport", ["uet", "irn", "irn-gbn", "roce+hpcc", "{name: uet, rto: 5s}"])
def test_links_that_are_too_slow_are_blamed_on_their_rate(tmp_path: Path, transport: str) -> None:
    """No parameter is stated that could be wrong, or the stated one is right."""
    slow = (f"transports=[{transport}]", "topology={kind: star, hosts: 4, rate: 1bps}")
    with pytest.raises(ConfigError) as caught:
        make_plan(load_text(tmp_path, SMALL, *slow), SimulatorTestbed())
    (problem,) = caught.value.problems
    assert (problem.key, problem.got, problem.advice) == ("topology", "links of 1bps", "raise it")


def test_a_wrong_parameter_of_a_traffic_group_is_blamed_on_the_group(tmp_path: Path) -> None:
    group = "workload: {kind: incast, senders: 1, size: 1MB}"
    own = f"{{name: b, {group}, transport: dctcp, parameters: {{rto_min: 1s, rto_max: 1ms}}}}"
    traffic = f"traffic=[{{name: a, {group}}}, {own}]"
    with pytest.raises(ConfigError) as caught:
        make_plan(load_text(tmp_path, SMALL, "workload=null", traffic), SimulatorTestbed())
    told = "traffic[1].parameters.rto_max: got '1ms', expected rto_min_ns up to rto_max_ns, 1000000, got"
    (problem,) = caught.value.problems
    assert str(problem) == f"--set {traffic}: {told} 1000000000; correct the value."
