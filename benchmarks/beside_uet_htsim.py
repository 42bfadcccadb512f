"""Cost of the same cases in uet-htsim and here.

Usage: `beside_uet_htsim.py CHECKOUT [--repeat 5] [--case NAME ...]`.
`scripts/uet_htsim_build.sh CHECKOUT` builds uet-htsim first. Both simulators run the same traffic in turns,
each run in a new process. Processor time and largest resident size are those of what a user types: ours is
`rogue run` of the case, with its plan, its stored tables and its report. `run_s` is the time of the
simulation alone, in another process. The output is JSON: medians, and theirs as a multiple of ours.
"""

import argparse
import csv
import json
import re
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from measuring import ROGUE, Cost, cost_of

ROOT: Final = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

from uet_htsim_cases import read_cases, write_case  # noqa: E402 - a script beside, not in a package

RUNNER: Final = ROOT / "scripts/uet_htsim_run.py"
MEASURE: Final = "measure=[{kind: throughput, interval: 1ms}]"
"""A sample per flow and 100 us, as the cases say, would be refused for 8192 flows and a limit of a second."""
DATACENTER: Final = Path("htsim/sim/datacenter")
PROGRAM: Final = Path("htsim/sim/build/datacenter/htsim_uec")
_TAIL: Final = re.compile(r" finished at ([0-9.]+)")


class Case(NamedTuple):
    """A case of docs/uet-htsim/cases.csv."""

    number: int
    """1-based index in the file."""
    end_us: int
    """End of the run in uet-htsim, as in its own files."""

    @property
    def command(self) -> list[str]:
        """Arguments of uet-htsim's program."""
        with (ROOT / "docs/uet-htsim/cases.csv").open() as stream:
            row = list(csv.DictReader(stream))[self.number - 1]
        topology = ["-topo", f"topologies/{row['topology']}"] if row["topology"] else []
        matrix = f"connection_matrices/{row['matrix']}"
        end = ["-sender_cc_only", "-end", str(self.end_us)]
        return ["-tm", matrix, *topology, *row["options"].split(), *end]


CASES: Final = {
    "incast_128": Case(25, 30_000),
    "permutation_1024": Case(19, 1_000),
    "permutation_8192": Case(46, 1_000),
}


def measure(case: Case, checkout: Path, repeat: int) -> dict[str, object]:
    """Run both simulators in turns; return medians and ratios."""
    theirs, ours, figures = list[Cost](), list[Cost](), []
    program = [checkout / PROGRAM, *case.command]
    with TemporaryDirectory() as directory:
        experiment = write_case(read_cases()[case.number - 1], checkout, Path(directory), {}, 1)
        command = [ROGUE, "run", experiment, "--set", MEASURE, "--out", Path(directory) / "results"]
        for _ in range(repeat):
            theirs.append(cost_of(program, checkout / DATACENTER))
            ours.append(cost_of(command, ROOT))
            alone = cost_of([sys.executable, RUNNER, checkout, "--case", str(case.number)], ROOT)
            figures.append(json.loads(alone.output))
    sides = {"theirs": theirs, "ours": ours}
    found: dict[str, dict[str, float]] = {
        side: {
            "processor_s": median(each.processor_s for each in costs),
            "resident_mib": median(each.resident_mib for each in costs),
        }
        for side, costs in sides.items()
    }
    found["theirs"]["tail_us"] = max(map(float, _TAIL.findall(theirs[0].output)))
    found["ours"] |= {key: median(each[key] for each in figures) for key in ("tail_us", "run_s")}
    there, here = found["theirs"], found["ours"]
    times = {
        "processor_time": there["processor_s"] / here["processor_s"],
        "processor_time_of_the_run": there["processor_s"] / here["run_s"],
        "memory": there["resident_mib"] / here["resident_mib"],
    }
    return {**found, "theirs_in_multiples_of_ours": times}


def main(arguments: list[str]) -> int:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="what scripts/uet_htsim_build.sh made")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs of each (default 5)")
    parser.add_argument(
        "--case", action="append", choices=CASES, help="one case only (default: all); repeatable"
    )
    chosen = parser.parse_args(arguments)
    checkout = chosen.checkout.resolve()
    if not (checkout / PROGRAM).is_file():
        parser.error(
            f"{checkout / PROGRAM} is not there; scripts/uet_htsim_build.sh {chosen.checkout} makes it"
        )
    names = chosen.case or list(CASES)
    print(json.dumps({name: measure(CASES[name], checkout, chosen.repeat) for name in names}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
