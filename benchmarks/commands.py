"""Processor time of commands, as JSON: `commands.py [--only NAME ...] [--repeat 5]`.

Each is what a user types, in a new process: its processor time with that of its children, and the largest
resident size of one of them. Values are medians with the least and the largest. The first run of each is
left out, because it writes Python's byte code.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from measuring import ROGUE, Cost, cost_of

SMALL: Final = ("quickstart", "--set", "scale=quick", "--set", "workload.repeat_for=50ms")
PERMUTATION: Final = (
    "uet-htsim-permutations", "--set", "scale=quick", "--only-cell", "uet-mixed-r1",
)  # fmt: skip
LARGE: Final = """\
name: permutation
topology: {kind: fat_tree, k: 32, rate: 400Gbps, mtu: 4096, nic: ideal}
workload: {kind: permutation, size: 1MB}
transports: [roce+dcqcn+pfc]
measure: [{kind: throughput, interval: 1ms}]
"""
"""8192 hosts."""


def commands(directory: Path) -> dict[str, Sequence[str | Path]]:
    """Return the command lines by name; runs and the experiment of the last one go to the directory."""
    large = directory / "permutation.yaml"
    large.write_text(LARGE)
    out = ("--out", directory / "results")
    run = cost_of([ROGUE, "run", *SMALL, *out], directory).output.strip()
    return {
        "help": ["--help"],
        "list": ["list", "transports"],
        "plan": ["plan", "quickstart"],
        "report": ["report", run],
        "run_small": ["run", *SMALL, *out],
        "run_1024_hosts": ["run", *PERMUTATION, *out],
        "run_8192_hosts": ["run", large, *out],
    }


def figures(costs: Sequence[Cost]) -> dict[str, float]:
    """Return the median time with its extremes, and the largest size."""
    seconds = [each.processor_s for each in costs]
    times = {"processor_s": median(seconds), "least_s": min(seconds), "most_s": max(seconds)}
    return {**times, "resident_mib": max(each.resident_mib for each in costs)}


def main() -> None:
    """Measure, and print one JSON object per command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these commands (default: all)")
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    arguments = parser.parse_args()
    with TemporaryDirectory() as name:
        for command, words in commands(Path(name)).items():
            if arguments.only and command not in arguments.only:
                continue
            costs = [cost_of([ROGUE, *words], Path(name)) for _ in range(arguments.repeat + 1)]
            print(json.dumps({command: figures(costs[1:])}), flush=True)


if __name__ == "__main__":
    main()
