"""Cost of plug-ins beside the engine's own rules: `plugins.py [--repeat 5]`.

W1 with DCQCN by the engine, by dcqcn.h and by the Python prototype dcqcn.py; W2 with ECN marking by the
engine and by red.h; W2 sprayed by the engine, by hashed.h (the same choice) and by drill.h (all equal ports
catch up). The variants take turns in fresh processes. Figures are medians of the processor time per
packet-hop in nanoseconds. All variants but drill.h must give the engine's digest.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import median
from typing import Any

from engine_networks import WORKLOADS, post
from measuring import in_fresh_process

from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.simulator import Marking, NicControl, Reliability, Simulation, Spraying, SwitchControl

PLUGINS = Path(__file__).parents[1] / "tests/data/plugins"
FILES = {
    "dcqcn": ("", "dcqcn.h", "dcqcn.py"),
    "marked": ("", "switches/red.h"),
    "sprayed": ("", "switches/hashed.h", "switches/drill.h"),
}
"""Per case the plug-in files; the empty name is the engine's own rule."""
STEP_NS = 1_000_000
RED = {"kmin_bytes": 100_000, "kmax_bytes": 400_000, "pmax": 0.2}


def network(case: str, file: str) -> Simulation:
    """Build W2 with the case's rule in its switches or connections."""
    parameters = RED if case == "marked" else {}
    controls = [SwitchControl(Path(file).stem, parameters)] if file else []
    marking = Marking(**RED) if case == "marked" and not file else None  # type: ignore[arg-type]

    class Network(Simulation):
        """W2 with these switches and connections."""

        def add_switch(self, name: str, **features: Any) -> None:  # noqa: ANN401 - passes them on
            super().add_switch(name, **(features | {"controls": controls, "marking": marking}))

        def connect(self, a: str, b: str, **connection: Any) -> Any:  # noqa: ANN401 - passes them on
            if case == "sprayed":
                connection["reliability"] = Reliability("irn", {"threshold_nacks": 64})
                connection["spraying"] = Spraying()
            return super().connect(a, b, **connection)

    return WORKLOADS["W2"].network(Network)


def measure(case: str, file: str) -> dict[str, float | str]:
    """Run one variant in this process."""
    if file:
        load_plugins([read_plugin(str(PLUGINS / file), "")])
    if case == "dcqcn":
        workload, control = WORKLOADS["W1"], NicControl("my-dcqcn" if file else "dcqcn")
        simulation = workload.controlled_network()
    else:
        workload, control = WORKLOADS["W2"], NicControl("dcqcn") if case == "marked" else None
        simulation = network(case, file)
    queue_pairs = post(simulation, list(workload.flows()), control)
    began = time.process_time()
    while simulation.statistics()["verbs_done"] < len(queue_pairs):
        simulation.run_until(simulation.now_ns + STEP_NS)
    spent_s = time.process_time() - began
    return {
        "ns_per_hop": spent_s * 1e9 / simulation.statistics()["packet_hops"],
        "digest": simulation.digest(),
    }


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one)))
        return
    variants = [(case, file) for case, files in FILES.items() for file in files]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {variant: [] for variant in variants}
    for _ in range(arguments.repeat):
        for variant, runs in found.items():
            runs.append(in_fresh_process(__file__, "--one", *variant))
    for (case, file), runs in found.items():
        assert "drill" in file or runs[0]["digest"] == found[case, ""][0]["digest"], (case, file)
        print(f"{case} {file or 'engine'}: {median(run['ns_per_hop'] for run in runs):.1f}")


if __name__ == "__main__":
    main()
