"""Run the cases of docs/papers/reps.md in REPS' artifact, and print what comes of them.

git clone https://github.com/tommasobo/REPS_EuroSys_Artifact CHECKOUT   # commit b751588
make -C CHECKOUT/htsim/sim && make -C CHECKOUT/htsim/sim/datacenter
.venv/bin/python scripts/reps_artifact.py CHECKOUT              # the figures' own seeds
.venv/bin/python scripts/reps_artifact.py CHECKOUT 5 6 7 8 9    # those seeds, for their spread

The command lines are those of artifact_scripts/fig_*.py without what these only log; figure 8 has 128 hosts
instead of 1024. A failed cable stands beside its case, as the program names it.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

DATACENTER: Final = Path("htsim/sim/datacenter")
PLAIN: Final = (
    "-sack_threshold 4000 -end 90000 -paths 65535 -sender_cc_only -sender_cc_algo mprdma -linkspeed 400000"
    " -ecn 20 80 -q 100 -cwnd 151"
)
BALANCERS: Final = {"REPS": "freezing", "OPS": "oblivious"}
_DONE: Final = re.compile(r"finished at ([0-9.]+) flowSize")
_LOST: Final = "Dropping a PKT"
"""Figure 6 alone prints it."""
_FAILED: Final = re.compile(r"Failed a new Cable name: \S+ id:(\d+)")


class Case(NamedTuple):
    """A command line: where it is from, and what it has beside PLAIN."""

    figure: str
    balancer: str
    seed: int
    topology: str
    matrix: str
    options: str = ""


class Told(NamedTuple):
    """What the program prints of a case."""

    tail_us: float
    mean_us: float
    lost: int
    """Packets into a dead uplink; figure 6."""
    failed: tuple[str, ...]
    """Cables, by the program's number of a direction."""


def _cases() -> Iterator[Case]:
    for name in BALANCERS:
        yield Case("1", name, 5, "fat_tree_128_1os_2t_400g", "test_symm16")
        yield Case("3", name, 5, "fat_tree_128_1os_3t_400g", "test_symm32", "-failed 1")
        freeze = "-failed 42 -exit_freeze 100000000" if name == "REPS" else "-failed 42"
        yield Case("6", name, 5, "fat_tree_128_1os_3t_400g", "test_symm32", freeze)
    for percent in (0, 10, 20):
        file = f"-failures_input ../failures_input/{percent}_percent_failed_cables.txt -other_location"
        options = f"-exit_freeze 10000000000 {file if percent else ''}".rstrip()
        yield Case(f"8, {percent} %", "REPS", 44, "fat_tree_128_1os_2t_400g", "perm_n128_s33554432", options)


CASES: Final = tuple(_cases())


def command(case: Case) -> list[str]:
    """The words of a command line, to be run in DATACENTER."""
    files = f"-topo topologies/reps/{case.topology}.topo -tm connection_matrices/{case.matrix}.cm"
    balancer = f"-load_balancing_algo {BALANCERS[case.balancer]} -seed {case.seed}"
    return f"./htsim_uec {PLAIN} {files} {balancer} {case.options}".split()


def told_in(text: str, flows: int) -> Told:
    """What a text says; the tail is infinite if not all of so many transfers are done."""
    times_us = [float(each) for each in _DONE.findall(text)]
    tail_us = max(times_us) if len(times_us) == flows else float("inf")
    return Told(tail_us, fmean(times_us), text.count(_LOST), tuple(_FAILED.findall(text)))


def run(case: Case, checkout: Path) -> Told:
    """Run a case. Lists of failed cables that earlier runs have saved are forgotten, as the scripts do."""
    for saved in (checkout / "htsim/sim/failures_input/saved").glob("*_percent_failed_cables.txt"):
        saved.unlink()
    where = checkout / DATACENTER
    matrix = (where / f"connection_matrices/{case.matrix}.cm").read_text()
    done = subprocess.run(command(case), cwd=where, check=True, capture_output=True, text=True)
    return told_in(done.stdout, matrix.count("->"))


def main(checkout: Path, seeds: Sequence[int]) -> None:
    """Print a line of each case and seed, as CSV, and the cables that failed."""
    print("figure,balancer,seed,tail_us,mean_us,lost,failed")  # noqa: T201
    for case in CASES:
        for seed in seeds or (case.seed,):
            told = run(case._replace(seed=seed), checkout)
            values = (f'"{case.figure}"', case.balancer, seed, *told[:3], " ".join(told.failed))
            print(",".join(map(str, values)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]])
