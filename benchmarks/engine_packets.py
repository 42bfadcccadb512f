"""What recording packets costs: `engine_packets.py [--only W1] [--pairs 7] [--before PYTHON]`.

Each pair is two fresh processes in turns, the order changing from pair to pair; the figure is the median
of the ratios of their processor time. Off against on: the run as it is, and with the first 100 000 packets
recorded. With `--before`, an interpreter of another checkout whose engine cannot record: that one against
this one, with recording off.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from engine import measure
from engine_networks import WORKLOADS

from rogue.simulator import Simulation

ENGINE = Path(__file__).with_name("engine.py")


def measured(command: list[str]) -> float:
    """Processor time of a run in a process of its own."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
    return float(json.loads(output)["cpu_s"])


def ratios(first: list[str], second: list[str], pairs: int) -> list[float]:
    """How many times longer the second one takes."""
    found = []
    for number in range(pairs):
        order = (first, second) if number % 2 == 0 else (second, first)
        seconds = dict(zip((tuple(each) for each in order), map(measured, order), strict=True))
        found.append(seconds[tuple(second)] / seconds[tuple(first)])
    return found


def recording() -> None:
    """Let every simulation record from its first connection on."""
    connect = Simulation.connect

    def connect_recorded(self: Simulation, *hosts: str, **properties: object) -> object:
        if not self._end_of:
            self.record_packets()
        return connect(self, *hosts, **properties)  # type: ignore[arg-type]

    Simulation.connect = connect_recorded  # type: ignore[assignment, method-assign]


def main() -> None:
    """Measure, and print medians and extremes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=WORKLOADS, default="W1", help="the workload")
    parser.add_argument("--pairs", type=int, default=7, help="how many pairs")
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter with another engine")
    parser.add_argument("--recorded", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.recorded:
        recording()
        print(json.dumps(measure(arguments.only)))
        return
    off = [sys.executable, str(ENGINE), "--once", arguments.only]
    on = [sys.executable, __file__, "--only", arguments.only, "--recorded"]
    found = {"on / off": ratios(off, on, arguments.pairs)}
    if arguments.before:
        found["off / before"] = ratios([arguments.before, *off[1:]], off, arguments.pairs)
    for name, values in found.items():
        print(f"{arguments.only}, {name}: {median(values):.3f} ({min(values):.3f} to {max(values):.3f})")


if __name__ == "__main__":
    main()
