"""How long people wait: processor time of plans of shipped experiments, and of reports of run directories.

python benchmarks/reports.py                     # plans
python benchmarks/reports.py results/x/20261122T100100Z-3f9a1c ...   # and reports of copies of these runs
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Final

REPEATS: Final = 3
PLANS: Final = (
    "quickstart",
    "rogue-paper/figure-14a",
    "irn-paper/figures-1-6",
    "sigcomm16-paper/figure-7",
)


def cpu_seconds(*words: str) -> float:
    """Median over REPEATS of what one call of `rogue` takes of processors, on whatever cores."""
    taken = []
    for _ in range(REPEATS):
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "rogue", *words], check=True, stdout=subprocess.DEVNULL)
        after = getrusage(RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(taken)


def main() -> None:
    """Print one line for each."""
    for name in PLANS:
        print(f"plan {name}: {cpu_seconds('plan', name):.2f} s of processor time")
    for run in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory) / run.name
            shutil.copytree(run, copy)
            seconds = cpu_seconds("report", str(copy))
            size_bytes = (copy / "report.html").stat().st_size
        print(f"report {run}: {seconds:.2f} s of processor time, {size_bytes / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
