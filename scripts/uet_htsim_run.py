"""Run the cases of docs/uet-htsim/cases.csv on the simulator, and write down what comes of them.

.venv/bin/python scripts/uet_htsim_run.py CHECKOUT             # all cases as they are: measured.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --by-rate   # those with slow links: measured-by-rate.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --by-coin   # all, with a coin: measured-by-coin.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --credits   # credit-cases.csv: credit-measured.csv
.venv/bin/python scripts/uet_htsim_run.py CHECKOUT --case 20   # one case and what it costs, as JSON; no file

With --by-rate switches trim and mark at bytes in proportion to their ports' rates, as uet-htsim's do; with
--by-coin they also trim, as often, the newest packet that waits, and each case has the first seed alone.
Cases that a file already has are not run again.
"""

import csv
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from uet_htsim_cases import CASES, CREDIT_CASES, Case
from uet_htsim_experiment import write_case

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
"""By file, what its cases have of the topology that a command does not say."""
LIMIT_NS: Final = 200_000_000
STEP_NS: Final = 100_000
SEEDS: Final = (1, 2, 3)
LARGE: Final = "8192n"
"""In the names of matrices whose cases have the first seed alone."""


class Measured(NamedTuple):
    """What a case came to with a seed."""

    case: int
    """Its place in cases.csv, from 1."""
    seed: int
    tail_us: float
    """From the first start to the last end; infinite if a transfer is not done after 200 ms."""
    again: int
    """Packets that were sent again."""


def read_cases(path: Path = CASES) -> list[Case]:
    """The cases of the file, in its order."""
    with path.open() as stream:
        return [
            Case(
                *(row[key] for key in ("file", "matrix", "topology", "options")),
                float(row["tail_us"]),
                int(row["again"]),
                float(row["older_us"]) if row["older_us"] else None,
            )
            for row in csv.DictReader(stream)
        ]


def read_measured(path: Path) -> list[Measured]:
    """What has been run; nothing if there is no file."""
    if not path.exists():
        return []
    with path.open() as stream:
        rows = csv.DictReader(stream)
        return [
            Measured(int(row["case"]), int(row["seed"]), float(row["tail_us"]), int(row["again"]))
            for row in rows
        ]


def measure(case: Case, checkout: Path, changes: Mapping[str, object], seed: int) -> tuple[float, int]:
    """Run a case: its tail completion time in microseconds, and packets that were sent again."""
    network = build(case, checkout, changes, seed)
    run(network)
    return outcome(network)


@gc_paused()
def costs(case: Case, checkout: Path) -> dict[str, float]:
    """Run a case as it is: what comes of it, and the processor time of both steps in seconds."""
    begun_s = time.process_time()
    network = build(case, checkout, {}, SEEDS[0])
    built_s = time.process_time()
    run(network)
    done_s = time.process_time()
    tail_us, again = outcome(network)
    return {"tail_us": tail_us, "again": again, "build_s": built_s - begun_s, "run_s": done_s - built_s}


def build(case: Case, checkout: Path, changes: Mapping[str, object], seed: int) -> SimulatedNetwork:
    """Read uet-htsim's files of a case, plan it and make its network."""
    with TemporaryDirectory() as directory:
        path = write_case(case, checkout, Path(directory), changes, seed)
        with gc_paused():
            [cell] = plan_cells(load_experiment(str(path), []))
            return build_network(cell)


def run(network: SimulatedNetwork) -> None:
    """Run until every transfer is done, or to the limit."""
    while network.simulation.now_ns < LIMIT_NS and not _is_done(network):
        network.simulation.run_until(network.simulation.now_ns + STEP_NS)


def outcome(network: SimulatedNetwork) -> tuple[float, int]:
    """The tail completion time in microseconds, and packets that were sent again."""
    network.simulation.check_invariants()
    transfers = [transfer for flow in network.flows for transfer in flow.transfers]
    ends = [transfer.end_ns for transfer in transfers]
    start_ns = min(transfer.start_ns for transfer in transfers)
    last_ns = max(float("inf") if end is None else end for end in ends)
    again = sum(
        value for *_, name, value in network.simulation.counters() if name.endswith("retransmitted_packets")
    )
    return (last_ns - start_ns) / 1_000, again


def _is_done(network: SimulatedNetwork) -> bool:
    return all(flow.transfers and flow.transfers[-1].end_ns is not None for flow in network.flows)


def runs(
    cases: Sequence[Case], done: Sequence[Measured], *, only_slow: bool = False, only_first: bool = False
) -> Iterator[tuple[int, int]]:
    """Cases, by their places, and seeds that are left, the first seeds of all cases before the others.

    `only_slow`: those with slow links, for all others have ports of one rate. `only_first`: the first seed.
    """
    have = {(each.case, each.seed) for each in done}
    for seed in SEEDS[:1] if only_first else SEEDS:
        for number, case in enumerate(cases, start=1):
            is_wanted = seed == SEEDS[0] or LARGE not in case.matrix
            is_wanted = is_wanted and ("-failed" in case.options or not only_slow)
            if is_wanted and (number, seed) not in have:
                yield number, seed


def main(checkout: Path, path: Path) -> None:
    """Run what is left, and write each result as soon as it is there."""
    cases, done = read_cases(CREDIT_CASES if path == CREDITS else CASES), read_measured(path)
    if not done:
        path.write_text(",".join(Measured._fields) + "\n")
    for number, seed in runs(cases, done, only_slow=path == BY_RATE, only_first=path == BY_COIN):
        tail_us, again = measure(cases[number - 1], checkout, CHANGES[path], seed)
        with path.open("a") as stream:
            stream.write(f"{number},{seed},{tail_us:.3f},{again}\n")


if __name__ == "__main__":
    match sys.argv[2:]:
        case ["--case", number]:
            print(json.dumps(costs(read_cases()[int(number) - 1], Path(sys.argv[1]))))  # noqa: T201
        case options:
            files = {"--by-rate": BY_RATE, "--by-coin": BY_COIN, "--credits": CREDITS}
            main(Path(sys.argv[1]), next((files[word] for word in options if word in files), MEASURED))
