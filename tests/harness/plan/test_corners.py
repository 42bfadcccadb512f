"""Traffic of no element or one, on every topology and with every measure: it runs or is refused in words."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.cell_kinds import TOPOLOGIES_OWN
from helpers.experiments import load_text

from rogue.harness.errors import ConfigError
from rogue.harness.experiment.choices import MEASURES
from rogue.harness.plan.plan import Plan, make_plan
from rogue.harness.plan.text import plan_text
from rogue.harness.testbeds.simulator import SimulatorTestbed
from rogue.workloads.traffic import WORKLOADS

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
    "pipeline": ("size: 1B, stages: 1", "size: 1B, stages: 2, microbatches: 1"),
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
def test_corners_are_planned_and_run_or_refused_in_a_sentence(tmp_path: Path, kind: str) -> None:
    for plan in plans(tmp_path, kind):
        assert plan_text(plan, 1)
        for planned in plan.runnable:
            if planned.cell.topology.kind in ("star", "links"):
                assert plan.testbed.run(planned.cell, lambda _fraction: None).failure is None
