"""Run the cases of docs/papers/smartt.md in the simulator of SMaRTT's authors, and print what comes of them.

git clone https://github.com/spcl/HTSIM-old csg-htsim           # the program wants that name; commit 6b0d460
make -C csg-htsim/sim libhtsim.a                                # it needs graphviz' and boost's headers
make -C csg-htsim/sim/datacenter htsim_uec_entry_modern htsim_swift_entry htsim_ndp_entry_modern
.venv/bin/python scripts/smartt_artifact.py csg-htsim           # the scripts' own seeds
.venv/bin/python scripts/smartt_artifact.py csg-htsim 1 2 3     # those seeds, for their spread

The command lines are those of plotting/scaling_800_32.sh, scaling_800_8.sh and permutation_os_routing.sh.
Swift and EQDS have those of the same scripts; of the permutation Swift has that of permutation_os.sh with 128
hosts.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

DATACENTER: Final = Path("sim/datacenter")
_LINKS: Final = "-o uec_entry -linkspeed 800000 -mtu 4096 -hop_latency 700 -switch_latency 0 -collect_data 0"
_PATHS: Final = "-number_entropies 256 -kmin 20 -kmax 80"
_TRIMMED: Final = (
    f"{_LINKS} {_PATHS} -q 4452000 -target_rtt_percentage_over_base 50 -use_fast_increase 1"
    " -use_super_fast_increase 1 -fast_drop 1 -queue_type composite -reuse_entropy 1 -ignore_ecn_data 1"
    " -ignore_ecn_ack 1 -w_gain 2 -z_gain 0.8 -bonus_drop 0.8 -drop_value_buffer 1.0"
)
_SMARTT: Final = f"./htsim_uec_entry_modern {_TRIMMED} -algorithm delayB -x_gain 1.25 -y_gain 5"
COMMANDS: Final = {
    "SMaRTT": f"{_SMARTT} -strat ecmp_host_random2_ecn",
    "SMaRTT-OPS": f"{_SMARTT} -strat ecmp_host",
    "Swift": f"./htsim_swift_entry {_TRIMMED} -x_gain 0.25 -y_gain 2 -strat ecmp_host_random2_ecn",
    "EQDS": (
        f"./htsim_ndp_entry_modern {_LINKS} {_PATHS} -ratio_os_stage_1 1 -cwnd 864000 -q 864000"
        " -strat ecmp_host_random2_ecn"
    ),
}
SEEDS: Final = {"EQDS": 95}
SEED: Final = 919
_DONE: Final = re.compile(r"Completion Time Flow is (\d+)")


class Case(NamedTuple):
    """A command line: what it is of, and what its script states of traffic and network."""

    name: str
    sender: str
    seed: int
    goal: str
    options: str
    flows: int


class Told(NamedTuple):
    """What the program prints of a case."""

    tail_us: float
    mean_us: float


def _cases() -> Iterator[Case]:
    incasts = [(32, "4096"), (32, "1048576"), (32, "33554432"), (8, "1048576"), (8, "33554432")]
    for degree, size in incasts:
        for sender in ("SMaRTT", "Swift", "EQDS"):
            goal = f"incast_scaling_{degree}/incast_1024_{degree}_{size}.bin"
            seed = SEEDS.get(sender, SEED)
            yield Case(f"{degree} to 1, {size} B", sender, seed, goal, "-nodes 1024 -k 1", degree)
    for sender in ("SMaRTT", "SMaRTT-OPS", "Swift"):
        goal = "permutation/permutation_128_33554432.bin"
        yield Case("permutation", sender, SEEDS.get(sender, SEED), goal, "-nodes 128 -k 4", 128)


CASES: Final = tuple(_cases())


def command(case: Case) -> list[str]:
    """The words of a command line, to be run in DATACENTER."""
    return f"{COMMANDS[case.sender]} {case.options} -seed {case.seed} -goal {case.goal}".split()


def told_in(text: str, flows: int) -> Told:
    """What a text says; the tail is infinite if not all of so many transfers are done."""
    times_us = [int(each) / 1e6 for each in _DONE.findall(text)]
    tail_us = max(times_us) if len(times_us) == flows else float("inf")
    return Told(tail_us, fmean(times_us) if times_us else float("inf"))


def run(case: Case, checkout: Path) -> Told:
    """Run a case in a checkout. EQDS' program may crash when it ends, after it has told everything."""
    where = checkout / DATACENTER
    done = subprocess.run(command(case), cwd=where, check=False, capture_output=True, text=True)
    return told_in(done.stdout, case.flows)


def main(checkout: Path, seeds: Sequence[int]) -> None:
    """Print a line of each case and seed, as CSV."""
    print("case,sender,seed,tail_us,mean_us")  # noqa: T201
    for case in CASES:
        for seed in seeds or (case.seed,):
            told = run(case._replace(seed=seed), checkout)
            print(",".join(map(str, (f'"{case.name}"', case.sender, seed, *told))), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(word) for word in sys.argv[2:]])
