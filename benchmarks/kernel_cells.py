"""What cells cost in a kernel with a virtual clock, as JSON.

python benchmarks/kernel_cells.py EXPERIMENT [--set KEY=VALUE] [--cell N] [--repeat 3] [--jobs 1]
    [--keep FOLDER]

For each cell, medians of the repetitions: processor time of the kernel's process, in user and system mode,
per second of its clock and per data packet; its largest resident size; goodput, and the queue's
distribution, so that what a change saves in time can be seen to cost nothing in the result. `--jobs 2` runs
as many copies of the cell at once, for the ratio of wall clocks.
"""

import argparse
import hashlib
import json
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np

from rogue.harness.cell.cell import Cell
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.kernel import KernelTestbed
from rogue.virtual.kernel.build import cache_directory, obtain

Figures = dict[str, float]
_MIB = 2**20


def main(arguments: list[str]) -> int:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("experiment", help="file or name")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    parser.add_argument(
        "--cell", type=int, action="append", metavar="N", help="its place in the plan, from 0"
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="copies of a cell at once")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the tables there")
    chosen = parser.parse_args(arguments)
    cells = plan_cells(load_experiment(chosen.experiment, chosen.settings))
    obtain(cache_directory(), tell)
    found = {}
    for place in chosen.cell or range(len(cells)):
        tell(f"{cells[place].id}")
        found[cells[place].id] = figures_of(cells[place], chosen.repeat, chosen.jobs, chosen.keep)
    print(json.dumps(found, indent=1))
    return 0


def figures_of(cell: Cell, repeat: int, jobs: int, keep: Path | None) -> Figures:
    """Medians of the rounds, each of as many copies at once."""
    rounds: list[Figures] = []
    for number in range(repeat):
        began_s = time.monotonic()
        with ProcessPoolExecutor(jobs, max_tasks_per_child=1) as pool:
            each = list(pool.map(run_cell, [cell] * jobs, [keep] * jobs))
        wall_s = time.monotonic() - began_s
        rounds += [{**figures, "wall_s": wall_s} for figures in each]
        tell(f"  round {number + 1} of {repeat}: {each[0]}")
    return {key: round(median(each[key] for each in rounds), 4) for key in rounds[0]}


def run_cell(cell: Cell, keep: Path | None) -> Figures:
    """Run one cell in a process that has no other children."""
    result = KernelTestbed().run(cell, lambda _fraction: None)
    if result.failure is not None:
        raise SystemExit(f"{cell.id}: {result.failure.message}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{cell.id}.json").write_text(json.dumps(plain(result), indent=0))
    delivered_bytes = float(np.sum(numbers(result, "throughput", "delivered_bytes")))
    packets = delivered_bytes / cell.topology.mtu_bytes
    traffic_s = cell.timing.traffic_ns / 1e9
    processor_s = used.ru_utime + used.ru_stime
    return {
        "processor_s": processor_s,
        "system_s": used.ru_stime,
        "processor_s_per_second": processor_s / traffic_s,
        "processor_us_per_packet": processor_s * 1e6 / packets,
        "resident_mib": used.ru_maxrss * 1024 / _MIB,
        "goodput_gbps": delivered_bytes * 8 / traffic_s / 1e9,
        **spread(result, "queues", "bytes", "queue"),
        **spread(result, "rtt", "rtt_ns", "rtt"),
        **spread(result, "latency", "rtt_ns", "probe"),
    }


def spread(result: CellResult, table: str, column: str, name: str) -> Figures:
    """Median, 99th percentile and maximum; of the queues, of the busiest port."""
    if table not in result.tables:
        return {}
    values = numbers(result, table, column)
    if table == "queues":
        ports = np.array(result.tables[table]["port"])
        values = max((values[ports == port] for port in set(ports)), key=np.sum)
    values = values[~np.isnan(values)]
    return {
        f"{name}_median": float(np.median(values)),
        f"{name}_p99": float(np.percentile(values, 99)),
        f"{name}_max": float(values.max()),
    }


def numbers(result: CellResult, table: str, column: str) -> "np.ndarray":
    """A column as numbers."""
    return np.array([np.nan if each is None else each for each in result.tables[table][column]], dtype=float)


def plain(result: CellResult) -> dict[str, object]:
    """Every table with its digest, to be compared with another run's."""
    tables = {
        name: {column: np.asarray(values).tolist() for column, values in sorted(columns.items())}
        for name, columns in sorted(result.tables.items())
    }
    digests = {
        name: hashlib.sha256(json.dumps(each).encode()).hexdigest()[:12] for name, each in tables.items()
    }
    return {"digests": digests, "facts": result.facts, "tables": tables}


def tell(text: str) -> None:
    """Say what is being measured."""
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
