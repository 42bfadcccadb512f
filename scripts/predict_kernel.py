"""Compare what NIC profiles of the simulator predict with what the kernel testbed measures.

rogue conformance --testbed kernel --nic ideal --write-profile measured.yaml
.venv/bin/python scripts/predict_kernel.py measured.yaml           # prints a table in Markdown; five minutes
.venv/bin/python scripts/predict_kernel.py measured.yaml incast-loss   # of these experiments alone

Fixed before the first run: the experiments (`experiments/referee/prediction`), their seeds, metrics and
tolerances (`agree_within`), and this rule. An error is the distance of two means as a part of the larger one,
and 100 % if one of them is infinite or missing. A profile predicts an experiment if each of its errors is
within its tolerance. Of two profiles the one with the smaller mean error over all metrics is better.
"""

import math
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import Final

from reference_experiments import table

import rogue
from rogue.reports.comparison.agreement import tolerances_of
from rogue.reports.metrics import METRICS
from rogue.reports.quantities import readable
from rogue.workloads.shipped import shipped

EXPERIMENTS: Final = (
    *("incast-loss", "burst-loss", "read-loss", "small-buffer", "link-cut"),
    *("incast-loss-2", "small-buffer-2", "second-loss"),
)
"""The last three were committed before they ran, and after the others had."""
MEASURED: Final = "measured"
"""Column of the profile in the argument."""


def main(profile: str, *experiments: str) -> None:
    """Print each metric on the kernel and with each profile, and the mean error of each profile."""
    nics = {MEASURED: str(Path(profile).resolve()), "soft_roce": "soft_roce", "ideal": "ideal"}
    with tempfile.TemporaryDirectory() as out:
        rows = [row for name in experiments or EXPERIMENTS for row in rows_of(name, nics, Path(out))]
    shown = [(*words, *(f"{value}; {_percent(part)}" for value, part in cells)) for words, cells in rows]
    errors = [mean(cells[place][1] for _, cells in rows) for place in range(len(nics))]
    print(table(("experiment", "metric", "tolerance", "kernel", *nics), shown))
    print(", ".join(f"{nic}: {_percent(part)}" for nic, part in zip(nics, errors, strict=True)))


Cells = list[tuple[str, float]]
"""Value and error with each profile."""


def rows_of(name: str, nics: Mapping[str, str], out: Path) -> Iterator[tuple[tuple[str, ...], Cells]]:
    """Run an experiment on the kernel and with each profile; yield a row for each of its metrics."""
    file = shipped("experiments") / f"referee/prediction/{name}.yaml"
    kernel = rogue.run(file, out=out, testbed="kernel")
    simulated = [rogue.run(file, settings=[f"topology.nic={nic}"], out=out) for nic in nics.values()]
    for metric, within in tolerances_of(kernel.manifest).items():
        unit = METRICS[metric].unit
        real, *predicted = (float(run.measures[metric].mean()) for run in (kernel, *simulated))
        cells = [(readable(value, unit), error(value, real)) for value in predicted]
        yield (name, metric, _percent(within), readable(real, unit)), cells


def error(predicted: float, measured: float) -> float:
    """Return the distance of two values as a part of the larger one."""
    if predicted == measured:
        return 0.0
    larger = max(abs(predicted), abs(measured))
    return abs(predicted - measured) / larger if math.isfinite(predicted + measured) else 1.0


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"


if __name__ == "__main__":
    main(*sys.argv[1:])
