"""What credits of receivers cost: `credits.py [--pairs 7] [--kind KIND] [--before PYTHON] [--outside]`.

32 senders of Ultra Ethernet share a receiver's link, 4 MB each. A pair is two fresh processes in turns, the
order changing from pair to pair; the figure is the median of the ratios of their processor time per
packet-hop. Without credits against with them; with `--before`, an interpreter with another engine: the same
kind there and here. With `--outside`: credits of the engine, and of tests/data/plugins/receivers/rccc.h.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from statistics import median

from engine_packets import ratios

from rogue.harness.plugins.loading import load_plugins
from rogue.harness.plugins.source import read_plugin
from rogue.simulator import IDEAL, Reliability, Simulation, Trimming
from rogue.simulator.framing import UEC

SENDERS, SIZE_BYTES = 32, 4_096_000
RATE_BPS, DELAY_PS = 100 * 10**9, 1_000_000
NUMBERS = {"line_rate_bps": 100e9, "base_rtt_ns": 4_700, "target_delay_ns": 3_500, "rto_ns": 60_000}
LIMIT_NS = 1_000_000_000
PLUGIN = Path(__file__).parents[1] / "tests" / "data" / "plugins" / "receivers" / "rccc.h"
OUTSIDE = "rccc.h"
KINDS = ("uet", "uet-rccc", OUTSIDE)


def _reliability(kind: str) -> Reliability:
    if kind != OUTSIDE:
        return Reliability(kind, NUMBERS, 7)
    from rogue.simulator import ReceiverControl  # an engine of before has none

    load_plugins([read_plugin(str(PLUGIN), "")])
    return Reliability("uet-rccc", NUMBERS, 7, ReceiverControl("rccc_outside"))


def measure(kind: str) -> dict[str, float]:
    """Run the incast once, in this process; `cpu_s` is the processor time of a million packet-hops."""
    simulation, reliability = Simulation(seed=1, framing=UEC), _reliability(kind)
    simulation.add_switch("s0", buffer_bytes=10**8, alpha=8.0, trimming=Trimming(100_000))
    for host in range(SENDERS + 1):
        simulation.add_host(f"h{host}", IDEAL)
        simulation.add_link(f"h{host}", "s0", rate_bps=RATE_BPS, delay_ps=DELAY_PS)
    for host in range(1, SENDERS + 1):
        [sender, _] = simulation.connect(
            f"h{host}",
            "h0",
            mtu_bytes=4096,
            retry_count=7,
            timeout_exponent=14,
            reliability=reliability,
        )
        sender.post_write(1, SIZE_BYTES, True)
    began = time.process_time()
    while simulation.statistics()["verbs_done"] < SENDERS and simulation.now_ns < LIMIT_NS:
        simulation.run_until(simulation.now_ns + 1_000_000)
    cpu_s = time.process_time() - began
    statistics = simulation.statistics()
    hops = statistics["packet_hops"]
    return {"cpu_s": cpu_s * 1e6 / hops, "packet_hops": hops, "verbs_done": statistics["verbs_done"]}


def main() -> None:
    """Measure, and print median and extremes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=7, help="how many pairs")
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter with another engine")
    parser.add_argument("--kind", choices=KINDS[:2], default="uet", help="there and here")
    parser.add_argument(
        "--outside", action="store_true", help="credits of the engine against those from outside"
    )
    parser.add_argument("--once", choices=KINDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.once:
        print(json.dumps(measure(arguments.once)))
        return
    file = str(Path(__file__))
    first = "uet-rccc" if arguments.outside else arguments.kind
    second = OUTSIDE if arguments.outside else arguments.kind if arguments.before else "uet-rccc"
    plain = [arguments.before or sys.executable, file, "--once", first]
    other = [sys.executable, file, "--once", second]
    found = ratios(plain, other, arguments.pairs)
    print(json.dumps({"ratio": median(found), "least": min(found), "most": max(found), "pairs": len(found)}))


if __name__ == "__main__":
    main()
