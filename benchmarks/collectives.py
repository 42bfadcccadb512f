"""What a collective costs by its hosts: `collectives.py ring|all_to_all [--hosts 256] [--transport T]`.

As JSON: on a fat tree of up to 1024 hosts at 400 Gb/s the seconds of processor time to plan and for the whole
cell, beside those that the plan expects, and the largest resident size. Each host has 1 KB for each one.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import make_plan
from rogue.harness.testbeds.simulator.testbed import SimulatorTestbed

EXPERIMENT: Final = """\
name: collectives
topology: {{kind: fat_tree, k: 16, rate: 400Gbps, mtu: 4096, nic: ideal}}
workload: {{kind: collective, operation: {operation}, hosts: {hosts}, size: {hosts}KB}}
transports: [{transport}]
"""
OPERATIONS: Final = {"ring": "all_reduce", "all_to_all": "all_to_all"}


def resident_bytes_max() -> int:
    """The largest resident size of this process so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def measure(operation: str, hosts: int, transport: str) -> dict[str, float]:
    """Plan and run one."""
    text = EXPERIMENT.format(operation=OPERATIONS[operation], hosts=hosts, transport=transport)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        loaded = load_experiment(file.name)
    began, testbed = time.process_time(), SimulatorTestbed()
    [planned] = make_plan(loaded, testbed).cells
    planned_s = time.process_time() - began
    assert planned.unsupported is None, planned.unsupported
    began = time.process_time()
    result = testbed.run(planned.cell, lambda _: None)
    flows = [flow for group in planned.cell.groups for flow in group.flows]
    return {
        "connections": len(flows),
        "transfers": len(result.tables["flows"]["flow_id"]),
        "plan_cpu_s": planned_s,
        "expected_s": planned.seconds,
        "cell_cpu_s": time.process_time() - began,
        "peak_bytes": resident_bytes_max(),
    }


def main() -> int:
    """Measure one collective, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("operation", choices=OPERATIONS)
    parser.add_argument("--hosts", type=int, default=256)
    parser.add_argument("--transport", default="roce+dcqcn+pfc")
    arguments = parser.parse_args()
    found = measure(arguments.operation, arguments.hosts, arguments.transport)
    print(json.dumps({name: round(value, 3) for name, value in found.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
