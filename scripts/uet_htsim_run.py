"""Run the cases of docs/uet-htsim/cases.csv on the simulator and record their completion times.

.venv/bin/python scripts/uet_htsim_run.py CHECKOUT             # all cases: measured.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --by-rate   # cases with slow links: measured-by-rate.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --by-coin   # coin trimming: measured-by-coin.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --credits   # credit-cases.csv: credit-measured.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --case 20   # print result and cost of one case as JSON

With --by-rate switches trim and mark in proportion to the rate of their ports, as uet-htsim's do. With
--by-coin they also trim, with probability 1/2, the newest waiting packet instead of the arriving one, and
only the first seed runs. Cases that a file already has are skipped. Make the checkout with
scripts/uet_htsim_build.sh.
"""

import csv
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from uet_htsim_cases import CASES, CREDIT_CASES, Case, read_cases, write_case

from rogue.harness.cell.demand import gc_paused
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.testbeds.simulator.network import SimulatedNetwork, build_network

MEASURED: Final = CASES.with_name("measured.csv")
BY_RATE: Final = CASES.with_name("measured-by-rate.csv")
BY_COIN: Final = CASES.with_name("measured-by-coin.csv")
CREDITS: Final = CASES.with_name("credit-measured.csv")
CHANGES: Final[Mapping[Path, Mapping[str, object]]] = {
    MEASURED: {},
    BY_RATE: {"thresholds": "rate"},
    BY_COIN: {"thresholds": "rate", "trim": "coin"},
    CREDITS: {"thresholds": "rate"},
}
"""Topology keys set in addition to each case's options, by file of results."""
LIMIT_NS: Final = 200_000_000
STEP_NS: Final = 100_000
SEEDS: Final = (1, 2, 3)
LARGE: Final = "8192n"
"""Matrices with this in their name run only with the first seed."""


class Measured(NamedTuple):
    """Result of a case with one seed."""

    case: int
    """1-based index in cases.csv."""
    seed: int
    tail_us: float
    """From the first start to the last end; infinite if a transfer is unfinished after 200 ms."""
    again: int
    """Retransmitted packets."""


def read_measured(path: Path) -> list[Measured]:
    """Read the results in a file; an absent file has none."""
    if not path.exists():
        return []
    with path.open() as stream:
        return [
            Measured(int(row["case"]), int(row["seed"]), float(row["tail_us"]), int(row["again"]))
            for row in csv.DictReader(stream)
        ]


@gc_paused()
def measure(case: Case, checkout: Path, changes: Mapping[str, object], seed: int) -> dict[str, float]:
    """Run a case; return its tail completion time, retransmissions, and seconds of processor time."""
    begun_s = time.process_time()
    with TemporaryDirectory() as directory:
        path = write_case(case, checkout, Path(directory), changes, seed)
        [cell] = plan_cells(load_experiment(str(path), []))
        network = build_network(cell)
    built_s = time.process_time()
    while network.simulation.now_ns < LIMIT_NS and not _is_done(network):
        network.simulation.run_until(network.simulation.now_ns + STEP_NS)
    done_s = time.process_time()
    network.simulation.check_invariants()
    transfers = [transfer for flow in network.flows for transfer in flow.transfers]
    last_ns = max(float("inf") if each.end_ns is None else each.end_ns for each in transfers)
    again = sum(
        value for *_, name, value in network.simulation.counters() if name.endswith("retransmitted_packets")
    )
    return {
        "tail_us": (last_ns - min(each.start_ns for each in transfers)) / 1_000,
        "again": again,
        "build_s": built_s - begun_s,
        "run_s": done_s - built_s,
    }


def _is_done(network: SimulatedNetwork) -> bool:
    return all(flow.transfers and flow.transfers[-1].end_ns is not None for flow in network.flows)


def pending(
    cases: Sequence[Case], done: Sequence[Measured], *, only_slow: bool = False, only_first: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield index and seed of the runs that `done` lacks, the first seed of all cases first.

    With `only_slow` only cases with failed links run; in all others every port has the same rate.
    """
    have = {(each.case, each.seed) for each in done}
    for seed in SEEDS[:1] if only_first else SEEDS:
        for number, case in enumerate(cases, start=1):
            is_wanted = seed == SEEDS[0] or LARGE not in case.matrix
            is_wanted = is_wanted and ("-failed" in case.options or not only_slow)
            if is_wanted and (number, seed) not in have:
                yield number, seed


def main(checkout: Path, path: Path) -> None:
    """Run the pending cases of a file and append each result at once."""
    cases, done = read_cases(CREDIT_CASES if path == CREDITS else CASES), read_measured(path)
    if not done:
        path.write_text(",".join(Measured._fields) + "\n")
    for number, seed in pending(cases, done, only_slow=path == BY_RATE, only_first=path == BY_COIN):
        found = measure(cases[number - 1], checkout, CHANGES[path], seed)
        with path.open("a") as stream:
            stream.write(f"{number},{seed},{found['tail_us']:.3f},{found['again']:.0f}\n")


if __name__ == "__main__":
    match sys.argv[2:]:
        case ["--case", number]:
            print(json.dumps(measure(read_cases()[int(number) - 1], Path(sys.argv[1]), {}, SEEDS[0])))
        case options:
            files = {"--by-rate": BY_RATE, "--by-coin": BY_COIN, "--credits": CREDITS}
            main(Path(sys.argv[1]), next((files[word] for word in options if word in files), MEASURED))
