"""The plan: what the testbed says to each cell."""

from pathlib import Path

import pytest
from helpers.experiments import SMALL, load_text
from helpers.fake_testbed import FakeTestbed

from harness.errors import ConfigError
from harness.plan.plan import Plan, make_plan
from harness.testbeds.simulator import SimulatorTestbed


def plan(tmp_path: Path, transports: str, *settings: str) -> Plan:
    return make_plan(load_text(tmp_path, SMALL, f"transports={transports}", *settings), FakeTestbed())


def test_what_cannot_run_keeps_its_reason(tmp_path: Path) -> None:
    both = plan(tmp_path, "[rogue, roce+pfc]")
    assert [each.unsupported for each in both.cells] == [None, "the fake testbed has no switches"]
    assert [each.cell.id for each in both.runnable] == ["rogue-r1"]


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 9.0), (2, 4.5), (4, 2.25), (100, 1.5)])
def test_expected_time_is_never_below_one_cell(tmp_path: Path, jobs: int, seconds: float) -> None:
    assert plan(tmp_path, "[rogue, roce]", "repetitions=3").seconds(jobs) == seconds


class Narrow(FakeTestbed):
    """A testbed that is one network of machines."""

    @property
    def jobs_max(self) -> int | None:
        return 1


def test_a_testbed_may_have_room_for_one_cell_only(tmp_path: Path) -> None:
    narrow = make_plan(load_text(tmp_path, SMALL, "repetitions=3"), Narrow())
    assert (narrow.jobs(8), narrow.seconds(8)) == (1, 9.0)
    assert plan(tmp_path, "[rogue, roce]").jobs(8) == 8


def test_nothing_to_run_takes_no_time(tmp_path: Path) -> None:
    assert plan(tmp_path, "[roce+pfc]").seconds(1) == 0


def test_wrong_parameter_is_a_mistake_of_the_file(tmp_path: Path) -> None:
    transports = "[roce, {name: rogue, colour: red}]"
    with pytest.raises(ConfigError) as caught:
        plan(tmp_path, transports, "repetitions=3")
    told = "transports[1].colour: got 'red', expected no colour; remove it."
    assert [str(problem) for problem in caught.value.problems] == [f"--set transports={transports}: {told}"]


def test_a_wrong_parameter_of_a_traffic_group_is_blamed_on_the_group(tmp_path: Path) -> None:
    group = "workload: {kind: incast, senders: 1, size: 1MB}"
    own = f"{{name: b, {group}, transport: dctcp, parameters: {{rto_min: 1s, rto_max: 1ms}}}}"
    traffic = f"traffic=[{{name: a, {group}}}, {own}]"
    with pytest.raises(ConfigError) as caught:
        make_plan(load_text(tmp_path, SMALL, "workload=null", traffic), SimulatorTestbed())
    told = "traffic[1].parameters.rto_min: got '1s', expected rto_min_ns up to rto_max_ns, 1000000, got"
    (problem,) = caught.value.problems
    assert str(problem) == f"--set {traffic}: {told} 1000000000; correct the value."
