"""The plan: what the testbed says to each cell."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.cell_kinds import TOPOLOGIES_OWN
from helpers.experiments import SMALL, load_text
from helpers.fake_testbed import FakeTestbed
from helpers.small_runs import cell as kept_cell
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rogue.harness.cell.cell import Cell
from rogue.harness.errors import ConfigError
from rogue.harness.experiment.choices import MEASURES
from rogue.harness.plan.plan import CELLS_MAX, ID_LENGTH_MAX, Plan, cheapest_first, make_plan, plan_cells
from rogue.harness.plan.text import plan_text
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.manifest import CellRecord
from rogue.workloads.traffic import WORKLOADS


def plan(tmp_path: Path, transports: str, *settings: str) -> Plan:
    return make_plan(load_text(tmp_path, SMALL, f"transports={transports}", *settings), FakeTestbed())


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


def test_testbed_can_limit_the_jobs(tmp_path: Path) -> None:
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
def test_repetitions_are_planned_once_if_seeds_do_not_matter(
    tmp_path: Path, is_same: bool, asked: list[str]
) -> None:
    testbed, counts = Counting(is_same=is_same), list[tuple[int, int, str]]()
    settings = "transports=[rogue]", "factors={workload.senders: [1, 2]}", "repetitions=3"
    made = make_plan(load_text(tmp_path, SMALL, *settings), testbed, lambda *count: counts.append(count))
    assert testbed.asked == asked
    assert [each.cell.id for each in made.runnable] == [f"rogue-senders2-r{index}" for index in (1, 2, 3)]
    assert {each.seconds for each in made.cells if each.unsupported} == {0.0}
    assert counts == [(done, 6, "planning cells") for done in range(1, 7)]


def test_wrong_parameter_is_a_mistake_of_the_file(tmp_path: Path) -> None:
    transports = "[roce, {name: rogue, colour: red}]"
    with pytest.raises(ConfigError) as caught:
        plan(tmp_path, transports, "repetitions=3")
    message = "transports[1].colour: got 'red', expected no colour; remove it."
    assert [str(problem) for problem in caught.value.problems] == [
        f"--set transports={transports}: {message}"
    ]


@pytest.mark.parametrize("transport", ["uet", "irn", "irn-gbn", "roce+hpcc", "{name: uet, rto: 5s}"])
def test_slow_links_are_a_mistake_of_the_topology(tmp_path: Path, transport: str) -> None:
    """No parameter is stated that could be wrong, or the stated one is right."""
    slow = (f"transports=[{transport}]", "topology={kind: star, hosts: 4, rate: 1bps}")
    with pytest.raises(ConfigError) as caught:
        make_plan(load_text(tmp_path, SMALL, *slow), SimulatorTestbed())
    (problem,) = caught.value.problems
    assert (problem.key, problem.got, problem.advice) == ("topology", "links of 1bps", "raise it")


def test_wrong_parameter_of_a_group_names_the_group(tmp_path: Path) -> None:
    group = "workload: {kind: incast, senders: 1, size: 1MB}"
    own = f"{{name: b, {group}, transport: dctcp, parameters: {{rto_min: 1s, rto_max: 1ms}}}}"
    traffic = f"traffic=[{{name: a, {group}}}, {own}]"
    with pytest.raises(ConfigError) as caught:
        make_plan(load_text(tmp_path, SMALL, "workload=null", traffic), SimulatorTestbed())
    message = "traffic[1].parameters.rto_max: got '1ms', expected rto_min_ns up to rto_max_ns, 1000000, got"
    (problem,) = caught.value.problems
    assert str(problem) == f"--set {traffic}: {message} 1000000000; correct the value."


FACTORS = SMALL + "factors: {workload.senders: [1, 2]}\nrepetitions: 2\nseed: 5\n"


def test_one_repetition_of_everything_first_and_transports_interleaved(tmp_path: Path) -> None:
    assert [cell.id for cell in plan_cells(load_text(tmp_path, FACTORS))] == [
        "rogue-senders1-r1", "roce-senders1-r1", "rogue-senders2-r1", "roce-senders2-r1",
        "rogue-senders1-r2", "roce-senders1-r2", "rogue-senders2-r2", "roce-senders2-r2",
    ]  # fmt: skip


def test_seed_of_a_repetition(tmp_path: Path) -> None:
    cells = plan_cells(load_text(tmp_path, FACTORS))
    assert {(cell.repetition, cell.seed) for cell in cells} == {(1, 5), (2, 6)}


def test_every_transport_meets_the_same_traffic(tmp_path: Path) -> None:
    rogue, roce, *_ = plan_cells(load_text(tmp_path, FACTORS))
    hosts = rogue.experiment.placement
    flows = [cell.experiment.groups[0].workload.flows(hosts, cell.seed) for cell in (rogue, roce)]
    assert flows[0] == flows[1]


def test_cells_of_one_factor_are_the_experiment_with_it_applied(tmp_path: Path) -> None:
    cells = plan_cells(load_text(tmp_path, FACTORS))
    assert [cell.experiment.groups[0].workload.hosts_min() for cell in cells[:4]] == [2, 2, 3, 3]


@pytest.mark.parametrize(
    ("extra", "identifier"),
    [
        ("factors: {workload.size: [1.5MB]}", "rogue-size1.5MB-r1"),
        ("factors: {topology.rate: [1Gbps], workload.verb: [write]}", "rogue-rate1Gbps-verbwrite-r1"),
        (
            "factors: {topology.kind: [star], workload.kind: [incast]}",
            "rogue-topology.kindstar-workload.kindincast-r1",
        ),
    ],
)  # fmt: skip
def test_names(tmp_path: Path, extra: str, identifier: str) -> None:
    assert plan_cells(load_text(tmp_path, SMALL + extra))[0].id == identifier


def test_labels_that_are_no_file_names(tmp_path: Path) -> None:
    text = SMALL.replace(
        "[rogue, roce]", "[{name: rogue, label: a/b}, {name: rogue, label: 'a?b'}, {name: roce, label: A_b}]"
    )
    assert [cell.id for cell in plan_cells(load_text(tmp_path, text))] == ["a_b-r1.1", "a_b-r1.2", "A_b-r1.3"]


@pytest.mark.parametrize("label", [".writing-x", "..", "-x", "_x"])
def test_no_directory_of_a_cell_is_hidden_or_looks_like_an_option(tmp_path: Path, label: str) -> None:
    text = SMALL.replace("[rogue, roce]", f"[{{name: rogue, label: '{label}'}}]")
    assert plan_cells(load_text(tmp_path, text))[0].id == f"x_{label[1:]}-r1"


@pytest.mark.parametrize("label", ["(lossy)", "µ", "a/b", ".x", "-"])
def test_manifest_accepts_every_planned_cell(tmp_path: Path, label: str) -> None:
    text = SMALL.replace("[rogue, roce]", f"[{{name: rogue, label: '{label}'}}]")
    for cell in plan_cells(load_text(tmp_path, text)):
        assert CellRecord.model_validate(kept_cell(cell.id)).id == cell.id


LABELS = st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5, unique=True)


@given(LABELS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_ids_are_unique_file_names(tmp_path: Path, labels: list[str]) -> None:
    loaded = load_text(tmp_path)
    choices = [loaded.experiment.transports[0].model_copy(update={"label": label}) for label in labels]
    loaded.experiment.transports[:] = choices
    identifiers = [cell.id for cell in plan_cells(loaded)]
    assert len({identifier.lower() for identifier in identifiers}) == len(labels)
    assert all(Path(name).name == name and len(name) <= ID_LENGTH_MAX + 12 for name in identifiers)


def test_too_many_cells(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"got 60000 cells, expected at most {CELLS_MAX}"):
        plan_cells(
            load_text(
                tmp_path,
                SMALL + "factors: {workload.senders: [1, 2, 3]}",
                "repetitions=10000",
                "topology.hosts=5",
            )
        )


ONE = "{source: h0, destination: h1"
CORNERS: dict[str, tuple[str, ...]] = {
    "incast": (
        "senders: 0, size: 1B", "senders: 1, size: 0B", "senders: 1, size: 1B",
        "senders: 1, size: 1B, repeat_for: 1ns",
    ),
    "staggered": ("senders: 1, step: 1us", "senders: 2, step: 1ns, size: 1B"),
    "doubling": ("senders: 1, senders_first: 1", "senders: 2, senders_first: 1, step: 1ns, size: 1B"),
    "pairs": (
        "flows: [], run_for: 1us", f"flows: [{ONE}}}], run_for: 1ns, size: 1B",
        f"flows: [{ONE}, start: 1ms}}], run_for: 1us", f"flows: [{ONE}, offered: 1bps}}], run_for: 1us",
    ),
    "clos_pairs": ("size: 1B, pairs: 1", "size: 1B, repeat_for: 1ns"),
    "permutation": ("size: 1B", "size: 1B, shift: 1, repeat_for: 1ns"),
    "all_to_all": ("size: 1B, hosts: 1", "size: 1B, hosts: 2", "size: 1B, hosts: 2, repeat_for: 1ns"),
    "collective": ("hosts: 2, size: 2B", "hosts: 2, size: 1B", "hosts: 2, size: 2B, iterations: 0"),
    "goal": ("file: empty.goal", "file: calc.goal"),
    "many_pairs": (
        "hosts: 2, load: 0.001, arrive_for: 1ns, drain_for: 1ns",
        "hosts: 2, load: 0.001, size: 1KB, arrive_for: 3ms, drain_for: 1ns",
    ),
    "poisson": (
        "load: 0.001, size: 1MB, arrive_for: 1ns, drain_for: 0s",
        "load: 0.01, size: 1KB, hosts: 2, receivers: 1, arrive_for: 300us, drain_for: 0s",
        "load: 0.01, size: 1KB, hosts: 2, receivers: 2, arrive_for: 300us",
    ),
    "trace": (
        "file: empty.csv", "file: one.csv", "file: one.csv, drain_for: 0s",
        "file: one.csv, begin: 1us, drain_for: 0s",
    ),
    "ping": ("size: 1B, count: 0", "size: 1B, count: 1"),
    "pingmesh": (
        "run_for: 1us, places: []", "run_for: 1ns, places: [1]", "run_for: 1us, places: [1], probers: 1",
    ),
    "rtt_accuracy": ("run_for: 1ns", "run_for: 1us, size: 1B"),
}  # fmt: skip
FILES = {
    "empty.goal": "num_ranks 1\nrank 0 {\n}\n",
    "calc.goal": "num_ranks 2\nrank 0 {\nl1: calc 100\n}\nrank 1 {\nl1: calc 100\n}\n",
    "empty.csv": "start_us,src,dst,size_bytes\n",
    "one.csv": "start_us,src,dst,size_bytes\n0,h0,h1,1\n",
}
PROBE = "probe: {kind: write0, interval: 100us}\n"


def plans(tmp_path: Path, kind: str) -> Iterator[Plan]:
    """Of each corner one plan for each topology, which take turns at measures and at having a probe."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for keys in CORNERS[kind]:
        for index, (topology, (own, _)) in enumerate(TOPOLOGIES_OWN.items()):
            network = ", ".join([f"kind: {topology}", *(f"{key}: {value}" for key, value in own.items())])
            measure = list(MEASURES)[index % len(MEASURES)]
            probe = PROBE if measure in ("latency", "packets") or index % 2 else ""
            traffic = f"topology: {{{network}}}\nworkload: {{kind: {kind}, {keys}}}\n"
            text = f"name: corner\n{traffic}{probe}transports: [roce]\nmeasure: [{measure}]\n"
            try:
                yield make_plan(load_text(tmp_path, text), SimulatorTestbed())
            except ConfigError as error:
                assert all(problem.expected and problem.advice for problem in error.problems)


@pytest.mark.parametrize("kind", WORKLOADS)
def test_extreme_workloads_run_or_are_refused(tmp_path: Path, kind: str) -> None:
    for plan in plans(tmp_path, kind):
        assert plan_text(plan, 1)
        for planned in plan.runnable:
            if planned.cell.topology.kind in ("star", "links"):
                assert plan.testbed.run(planned.cell, lambda _fraction: None).failure is None
