"""What a control from outside the engine costs, as JSON: `outside_controls.py [--repeat 5]`.

W1 with DCQCN three times: the engine's own, the same as a plug-in in C++, and as a prototype in Python
(tests/data/plugins). The three take turns in fresh processes. Figures are medians of the processor time per
packet-hop; digests have to be equal.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from engine_networks import WORKLOADS, post

from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.simulator import NicControl

PLUGINS = Path(__file__).parents[1] / "tests" / "data" / "plugins"
KINDS = {"engine": None, "compiled": "dcqcn.h", "python": "dcqcn.py"}
STEP_NS = 1_000_000


def measure(kind: str) -> dict[str, float | str]:
    """Run W1 once, in this process."""
    file = KINDS[kind]
    if file is not None:
        load_plugins([read_plugin(str(PLUGINS / file), "")])
    workload = WORKLOADS["W1"]
    simulation = workload.controlled_network()
    queue_pairs = post(simulation, list(workload.flows()), NicControl("my-dcqcn" if file else "dcqcn"))
    began = time.process_time()
    while simulation.statistics()["verbs_done"] < len(queue_pairs):
        simulation.run_until(simulation.now_ns + STEP_NS)
    spent_s = time.process_time() - began
    hops = simulation.statistics()["packet_hops"]
    return {"ns_per_hop": spent_s * 1e9 / hops, "digest": simulation.digest()}


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    digests = set()
    for _ in range(arguments.repeat):
        for kind, values in found.items():
            command = [sys.executable, __file__, "--one", kind]
            done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            values.append(done["ns_per_hop"])
            digests.add(done["digest"])
    assert len(digests) == 1, digests
    print(json.dumps({kind: round(median(values), 1) for kind, values in found.items()}, indent=1))


if __name__ == "__main__":
    main()
