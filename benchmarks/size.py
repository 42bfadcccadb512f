"""Cost of a fat tree by its size, as JSON: `size.py [--k 16 32] [--transport T] [--size 256KiB] [--run]`.

A permutation on switches of k ports, 400 Gb/s: seconds of processor time to plan and to build, bytes of
memory per host, per port (a link has two) and per flow (both ends and its agent). With `--run` it also runs
until every transfer is done. Each k runs in a new process. The exit code is 1 if memory or the time to build
exceeds its bound.
"""

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Final

from measuring import in_fresh_process, resident_bytes

from rogue.harness.cell.cell import Cell
from rogue.harness.experiment.load import LoadedExperiment, load_experiment
from rogue.harness.plan.plan import make_plan, plan_cells
from rogue.harness.testbeds.simulator.network import SimulatedNetwork, build_links, build_network
from rogue.harness.testbeds.simulator.nics import profile_of
from rogue.harness.testbeds.simulator.testbed import SimulatorTestbed
from rogue.simulator import Simulation

EXPERIMENT: Final = """\
name: size
topology: {{kind: fat_tree, k: {k}, rate: 400Gbps, mtu: 4096, nic: ideal}}
workload: {{kind: permutation, size: {size}}}
transports: [{transport}]
"""
BOUNDS: Final = {"host_bytes": 1_000, "port_bytes": 3_000, "flow_bytes": 18_000}
BUILD_SECONDS_PER_HOST_MAX: Final = 10 / 65_536
STEP_NS: Final = 1_000_000


def load(k: int, size: str, transport: str) -> LoadedExperiment:
    """Read the experiment."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(EXPERIMENT.format(k=k, size=size, transport=transport))
        file.flush()
        return load_experiment(file.name)


def grown_bytes(make: Callable[[], object], kept: list[object]) -> int:
    """Make something that is kept, and return by how much the process grew."""
    gc.collect()
    before = resident_bytes()
    kept.append(make())
    return resident_bytes() - before


def hosts_alone(cell: Cell) -> Simulation:
    """Make the hosts of a cell without a network."""
    bare = Simulation(seed=1)
    for host in cell.topology.host_names():
        bare.add_host(host, profile_of(cell.topology, host))
    return bare


def memory_of(cell: Cell) -> dict[str, float]:
    """Return the memory of the parts of a network."""
    assert cell.network and cell.timing, "not worked out"
    hosts, links, kept = len(cell.topology.host_names()), len(cell.network.links), list[object]()
    flows = sum(len(group.flows) for group in cell.groups)
    hosts_bytes = grown_bytes(lambda: hosts_alone(cell), kept)
    links_bytes = grown_bytes(lambda: build_links(cell), kept)
    all_bytes = grown_bytes(lambda: build_network(cell), kept)
    return {
        "host_bytes": hosts_bytes / hosts,
        "port_bytes": (links_bytes - hosts_bytes) / (2 * links),
        "flow_bytes": (all_bytes - links_bytes) / flows,
    }


def measure(k: int, size: str, transport: str, *, runs: bool) -> dict[str, float]:
    """Plan and build a network and perhaps run it."""
    began = time.process_time()
    [planned] = make_plan(load(k, size, transport), SimulatorTestbed()).cells
    planned_s = time.process_time() - began
    assert planned.unsupported is None, planned.unsupported
    began = time.process_time()
    network = build_network(planned.cell)
    build_s = time.process_time() - began
    hosts = len(planned.cell.topology.host_names())
    found = {"hosts": hosts, "plan_cpu_s": planned_s, "build_cpu_s": build_s}
    return found | (run(network) if runs else {})


def run(network: SimulatedNetwork) -> dict[str, float]:
    """Run until every transfer is done."""
    simulation = network.simulation
    began, hops = time.process_time(), -1
    while simulation.statistics()["packet_hops"] != hops or hops == 0:
        hops = simulation.statistics()["packet_hops"]
        simulation.run_until(simulation.now_ns + STEP_NS)
    cpu_s = time.process_time() - began
    late = sum(not flow.is_done for flow in network.flows)
    assert late == 0, f"{late} of {len(network.flows)} flows have transfers that were not done"
    return {
        "run_cpu_s": cpu_s,
        "packet_hops": hops,
        "packet_hops_per_cpu_s": hops / cpu_s,
        "peak_bytes": resident_bytes("VmHWM"),
    }


def over_bounds(found: dict[str, float]) -> list[str]:
    """Name what is over its bound."""
    over = [name for name, most in BOUNDS.items() if found[name] > most]
    is_slow = found["build_cpu_s"] > BUILD_SECONDS_PER_HOST_MAX * found["hosts"]
    return [*over, *(["build_cpu_s"] if is_slow else [])]


def main() -> int:
    """Measure each size in a new process, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, nargs="+", default=[16, 32])
    parser.add_argument("--transport", default="roce+dcqcn+pfc")
    parser.add_argument("--size", default="256KiB")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--here", choices=("memory", "time"), help="measure one of them in this process")
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(measure_here(arguments)))
        return 0
    is_over = False
    for k in arguments.k:
        found: dict[str, float] = {}
        for here in ("time", "memory"):
            own = ["--k", str(k), "--transport", arguments.transport, "--size", arguments.size]
            found |= in_fresh_process(__file__, "--here", here, *own, *(["--run"] if arguments.run else []))
        over = over_bounds(found)
        is_over |= bool(over)
        print(json.dumps({"k": k, **{name: round(value, 3) for name, value in found.items()}, "over": over}))
    return int(is_over)


def measure_here(arguments: argparse.Namespace) -> dict[str, float]:
    """Measure memory or time, in this process."""
    [k] = arguments.k
    if arguments.here == "time":
        return measure(k, arguments.size, arguments.transport, runs=arguments.run)
    [cell] = plan_cells(load(k, arguments.size, arguments.transport))
    return memory_of(cell)


if __name__ == "__main__":
    sys.exit(main())
