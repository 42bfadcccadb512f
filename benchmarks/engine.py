"""Speed of the packet engine, as JSON: `engine.py [--only W1] [--repeat 5] [--dcqcn] [--rogue]`.

Traffic of benchmarks/data without congestion control, with unbounded buffers and an ACK per packet, until
every flow has finished; retransmissions are an error. Each repetition runs in a fresh process; the figures
are medians. A packet-hop is one packet crossing one link. `wall_s` is the time of the run alone, `cpu_s` its
processor time, `setup_s` the time to build the network, `baseline_rss_bytes` the size of the interpreter
before. The workloads take turns, so that a disturbance of the machine does not hit only one of them. With
`--dcqcn` each also runs with DCQCN in the NICs, marking and priority flow control in the switches. With
`--rogue` W1 also runs under RoGUE (see engine_rogue.py).
"""

import argparse
import json
import time
from statistics import median

from engine_networks import WORKLOADS, post
from measuring import in_fresh_process, machine, resident_bytes

from rogue.simulator import NicControl

STEP_NS = 1_000_000
ROGUE = "W1 with RoGUE"
CONTROLLED = " with DCQCN"


def measure(name: str, *, is_controlled: bool = False) -> dict[str, float]:
    """Run one workload once, in this process."""
    baseline_bytes = resident_bytes("VmRSS")
    began = time.perf_counter()
    workload = WORKLOADS[name]
    simulation = workload.controlled_network() if is_controlled else workload.network()
    control = NicControl("dcqcn") if is_controlled else None
    queue_pairs = post(simulation, list(workload.flows()), control)
    built = time.perf_counter()
    began_cpu = time.process_time()
    while simulation.statistics()["verbs_done"] < len(queue_pairs):
        simulation.run_until(simulation.now_ns + STEP_NS)
    wall_s, cpu_s = time.perf_counter() - built, time.process_time() - began_cpu
    peak_bytes = resident_bytes("VmHWM")
    retransmitted = sum(queue_pair.retransmitted_bytes for queue_pair in queue_pairs)
    assert retransmitted == 0, f"{name}: {retransmitted} bytes were retransmitted"
    simulation.check_invariants()
    statistics = simulation.statistics()
    hops = statistics["packet_hops"]
    return {
        "packet_hops": hops,
        "events": statistics["events"],
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "setup_s": built - began,
        "packet_hops_per_s": hops / wall_s,
        "ns_per_packet_hop": wall_s / hops * 1e9,
        "events_per_packet_hop": statistics["events"] / hops,
        "packets_pool_max": statistics["packets_pool_max"],
        "peak_rss_bytes": peak_bytes,
        "baseline_rss_bytes": baseline_bytes,
    }


def measure_once(name: str) -> dict[str, float]:
    """Run one measurement, in this process."""
    if name == ROGUE:
        from engine_rogue import measure_rogue

        return measure_rogue()
    return measure(name.removesuffix(CONTROLLED), is_controlled=name.endswith(CONTROLLED))


def main() -> None:
    """Measure, and print medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=WORKLOADS, action="append", help="measure only this workload")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each workload")
    parser.add_argument("--rogue", action="store_true", help="measure W1 under RoGUE as well")
    parser.add_argument("--dcqcn", action="store_true", help="measure with DCQCN and flow control as well")
    controlled = [name + CONTROLLED for name in WORKLOADS]
    parser.add_argument("--once", choices=[*WORKLOADS, *controlled, ROGUE], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        print(json.dumps(measure_once(arguments.once)))
        return
    names = list(arguments.only or WORKLOADS)
    names += [name + CONTROLLED for name in names] if arguments.dcqcn else []
    names += [ROGUE] if arguments.rogue else []
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(arguments.repeat):
        for name in names:
            runs[name].append(in_fresh_process(__file__, "--once", name))
    medians = {
        name: {figure: median(run[figure] for run in repetitions) for figure in repetitions[0]}
        for name, repetitions in runs.items()
    }
    print(json.dumps({"machine": machine(), "repeat": arguments.repeat} | medians, indent=2))


if __name__ == "__main__":
    main()
