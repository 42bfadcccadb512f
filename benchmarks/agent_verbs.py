"""What the agent costs over real verbs, as JSON.

PYTHONPATH=tests python benchmarks/agent_verbs.py [--repeat 3] [--mib 32]

Two virtual machines with soft-RoCE, one cable, RC WRITE, nothing else on it. The agent's flows and
`ib_write_bw` of perftest take turns, so that a disturbance of the machine does not hit only one of them;
figures are medians. For each flow of the agent: goodput, and its time per 64 KiB: `waiting` asleep,
`posting` in ibv_post_send (soft-RoCE sends inside it), `deciding` in the core and the step around it,
`polling` in ibv_poll_cq, `rearming` in taking events and ibv_req_notify_cq. Under software emulation all of
it is tens of times slower than on the machine itself; the shares, and the ratio to perftest, are what counts.
"""

import argparse
import json
import sys
import threading
from pathlib import Path
from statistics import median

from helpers.agent_flows import PATIENT, Flow, node
from helpers.running_machines import running

from rogue.remote.connection import connect
from rogue.remote.login import Login
from rogue.virtual.image.build import cache_directory, obtain
from rogue.virtual.machines.assembly import choose
from rogue.virtual.machines.machine_plan import pair

SEGMENT_BYTES = 65_536
NATIVE_BYTES = 1_048_576
RUN_S = 300
ADDRESSES = {"h1": "10.9.0.1", "h2": "10.9.0.2"}
PARTS = ("waiting", "posting", "deciding", "polling", "rearming")
FLOWS: dict[str, tuple[str, dict[str, object]]] = {
    "rogue, 64 KiB verbs": ("rogue", {"base_rtt_floor_ns": 20_000_000}),
    "roce, 64 KiB verbs": ("roce", {"segment_bytes": SEGMENT_BYTES}),
    "roce, 1 MiB verbs": ("roce", {}),
}
PERFTESTS = {"ib_write_bw, 64 KiB": SEGMENT_BYTES, "ib_write_bw, 1 MiB": NATIVE_BYTES}
Figures = dict[str, float]


def main(arguments: list[str]) -> int:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds")
    parser.add_argument("--mib", type=int, default=32, metavar="MIB", help="size of a transfer")
    chosen = parser.parse_args(arguments)
    cache = cache_directory()
    image = obtain(cache, tell)
    accelerator = choose(image, cache, tell)
    rounds: list[dict[str, Figures]] = []
    with running(pair(), image, accelerator, tell) as machines:
        for number in range(chosen.repeat):
            tell(f"round {number + 1} of {chosen.repeat}")
            rounds.append(measure(machines.logins, chosen.mib * 2**20))
    figures = {
        name: {key: median(each[name][key] for each in rounds) for key in rounds[0][name]}
        for name in rounds[0]
    }
    report = {
        "machine": processor(),
        "accelerator": accelerator.value,
        "repeat": chosen.repeat,
        "transfer_mib": chosen.mib,
        "figures": figures,
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return 0


def measure(logins: dict[str, Login], size_bytes: int) -> dict[str, Figures]:
    """One round: each flow and each perftest once."""
    figures: dict[str, Figures] = {}
    for name, (transport, parameters) in FLOWS.items():
        figures[name] = agent_flow(logins, transport, parameters, size_bytes)
    for name, verb_bytes in PERFTESTS.items():
        figures[name] = perftest(logins, verb_bytes, size_bytes // verb_bytes)
    return figures


def agent_flow(
    logins: dict[str, Login], transport: str, parameters: dict[str, object], size_bytes: int
) -> Figures:
    """One transfer by the agent."""
    with node(logins["h1"], ADDRESSES["h1"]) as source, node(logins["h2"], ADDRESSES["h2"]) as destination:
        every = {**PATIENT, **parameters}
        flow = Flow(source, destination, transport, buffer_bytes=size_bytes, parameters=every)
        sent, _ = flow.run(size_bytes, run_s=RUN_S)
    assert sent.status == "ok", f"{transport}: {sent.error}"
    segments = size_bytes / SEGMENT_BYTES
    spent = {f"{part}_us_per_64_kib": int(str(sent.spent[f"{part}_ns"])) / 1e3 / segments for part in PARTS}
    return {
        "goodput_mbps": size_bytes * 8e3 / (sent.end_ns - sent.start_ns),
        "batches": sent.batches,
        **spent,
    }


def perftest(logins: dict[str, Login], verb_bytes: int, verbs: int) -> Figures:
    """The same bytes by perftest's own loop in C, two verbs posted as the agent has at least."""
    options = f"-d rxe0 -x 1 -F -u 18 -s {verb_bytes} -n {max(5, verbs)} -t 2 -Q 1 --report_gbits"
    command = f"timeout 120 ib_write_bw {options}"
    with connect(logins["h1"]) as client, connect(logins["h2"]) as server:
        serving = threading.Thread(target=server.run, args=(command,))
        serving.start()
        server_is_up = "for i in $(seq 600); do ss -ltn | grep -q :18515 && break; sleep 0.1; done"
        with connect(logins["h2"]) as watching:
            watching.run(server_is_up)
        output = client.run(f"{command} {ADDRESSES['h2']}")
        serving.join()
    rows = [line.split() for line in output.splitlines() if line.split()[:1] == [str(verb_bytes)]]
    return {"goodput_mbps": float(rows[0][3]) * 1e3}


def processor() -> str:
    """Name the processor that emulates the machines."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))


def tell(text: str) -> None:
    """Show progress beside the result."""
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
