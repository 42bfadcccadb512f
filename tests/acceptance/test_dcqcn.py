"""Where DCQCN's queue rests, and when it does not: experiments/controls.

  queue        median over the run of 500 ms, against the fluid model's fixed point, 30 %
  oscillation  standard deviation over mean of the second half of the run, at 85 us feedback delay
  seeds        1 to 5; every number is the median over them

Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay", CoNEXT 2016.
"""

from pathlib import Path
from statistics import mean, median, pstdev

import pytest
from helpers.experiment_run import ExperimentRun, run_experiment

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRun:
    return run_experiment("controls/dcqcn-queue", tmp_path_factory.mktemp("queue"))


def queues_of(run: ExperimentRun, senders: int, from_ns: int = 0) -> list[list[float]]:
    """The samples of the busiest port, which is the receiver's, seed by seed."""
    rows = run.table("queues", "roce+dcqcn")
    rows = rows[rows["workload.senders"] == senders]
    rows = rows[(rows["priority"] == 0) & (rows["t_ns"] > from_ns)]
    rows = rows[rows["port"] == rows.groupby("port")["bytes"].sum().idxmax()]
    samples = [each["bytes"].tolist() for _, each in rows.groupby("seed")]
    assert len(samples) == 5
    return samples


@pytest.mark.parametrize(("senders", "fixed_point_bytes"), [(2, 21_800), (10, 135_000)])
def test_the_queue_rests_near_the_fixed_point(
    run: ExperimentRun, senders: int, fixed_point_bytes: float
) -> None:
    """At our packet size; the claims are judged by the published values (docs/papers/ecn-or-delay.md)."""
    found = median(median(samples) for samples in queues_of(run, senders))
    assert found == pytest.approx(fixed_point_bytes, rel=0.3)


def test_ten_flows_oscillate_only_with_a_long_delay(run: ExperimentRun, tmp_path: Path) -> None:
    late = run_experiment("controls/dcqcn-delay", tmp_path, "factors={workload.senders: [10]}")
    for each, is_oscillating in ((run, False), (late, True)):
        for samples in queues_of(each, 10, from_ns=250_000_000):
            assert (pstdev(samples) > 0.5 * mean(samples)) == is_oscillating
