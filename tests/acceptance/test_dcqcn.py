"""Where DCQCN's queue rests, and when it does not: experiments/controls.

  queue        median over the run of 500 ms, against the fluid model's fixed point (20.2 and 122.6 KB), 30 %
  oscillation  standard deviation over mean of the second half of the run, at 85 us feedback delay
  seeds        1 to 5; every number is the median over them

All was fixed before the first run. Source: Zhu, Ghobadi, Misra and Padhye, "ECN or delay", CoNEXT 2016.
"""

from pathlib import Path
from statistics import median

import pytest
from helpers.experiment_run import ExperimentRun, run_experiment

pytestmark = pytest.mark.long


def queues_of(run: ExperimentRun, senders: int, from_ns: int = 0) -> list[list[float]]:
    """The samples of the receiver's port, seed by seed."""
    rows = run.table("queues")
    rows = rows[(rows["workload.senders"] == senders) & rows["port"].str.endswith("->h0")]
    rows = rows[(rows["priority"] == 0) & (rows["t_ns"] > from_ns)]
    return [each["bytes"].tolist() for _, each in rows.groupby("seed")]


def test_the_queue_rests_at_the_fixed_point(tmp_path: Path) -> None:
    run = run_experiment("controls/dcqcn-queue", tmp_path)
    for senders, fixed_point_bytes in ((2, 20_200), (10, 122_600)):
        found = median(median(samples) for samples in queues_of(run, senders))
        assert found == pytest.approx(fixed_point_bytes, rel=0.3), senders
