"""What a part of switches from outside costs, as JSON: `outside_switches.py [--repeat 5]`.

W2 with DCQCN, marked by the engine and by tests/data/plugins/switches/red.h; and with IRN, sprayed by the
engine, by hashed.h, which says the same, and by drill.h, for which all equal ports catch up. They take turns
in fresh processes. Figures are medians of the processor time per packet-hop; equals have equal digests.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from engine_networks import WORKLOADS, Flow, post

from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.simulator import Marking, NicControl, Reliability, Simulation, Spraying, SwitchControl

PLUGINS = Path(__file__).parents[1] / "tests" / "data" / "plugins" / "switches"
KINDS = ("marked", "marked by red.h", "sprayed", "sprayed by hashed.h", "sprayed by drill.h")
STEP_NS = 1_000_000
KMIN_BYTES, KMAX_BYTES, PMAX = 100_000, 400_000, 0.2


def _controls(kind: str) -> list[SwitchControl]:
    file = kind.partition(" by ")[2]
    if not file:
        return []
    load_plugins([read_plugin(str(PLUGINS / file), "")])
    shape = {"kmin_bytes": KMIN_BYTES, "kmax_bytes": KMAX_BYTES, "pmax": PMAX} if file == "red.h" else {}
    return [SwitchControl(Path(file).stem, shape)]


def _network(kind: str) -> tuple[Simulation, NicControl | None]:
    controls, is_marked = _controls(kind), kind.startswith("marked")
    marking = Marking(KMIN_BYTES, KMAX_BYTES, PMAX) if kind == "marked" else None

    class Network(Simulation):
        """W2's, with what is measured."""

        def add_switch(self, name: str, **features: Any) -> None:  # noqa: ANN401 - as it takes them
            super().add_switch(name, **(features | {"controls": controls, "marking": marking}))

        def connect(self, a: str, b: str, **connection: Any) -> Any:  # noqa: ANN401 - as it takes them
            if not is_marked:
                connection |= {
                    "reliability": Reliability("irn", {"threshold_nacks": 64}),
                    "spraying": Spraying(),
                }
            return super().connect(a, b, **connection)

    return WORKLOADS["W2"].network(Network), NicControl("dcqcn") if is_marked else None


def measure(kind: str) -> dict[str, float | str]:
    """Run W2 once, in this process."""
    simulation, control = _network(kind)
    flows: Sequence[Flow] = list(WORKLOADS["W2"].flows())
    queue_pairs = post(simulation, list(flows), control)
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
    digests: dict[str, str] = {}
    for _ in range(arguments.repeat):
        for kind, values in found.items():
            command = [sys.executable, __file__, "--one", kind]
            done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            values.append(done["ns_per_hop"])
            digests[kind] = done["digest"]
    assert digests["marked"] == digests["marked by red.h"]
    assert digests["sprayed"] == digests["sprayed by hashed.h"]
    print(json.dumps({kind: round(median(values), 1) for kind, values in found.items()}, indent=1))


if __name__ == "__main__":
    main()
