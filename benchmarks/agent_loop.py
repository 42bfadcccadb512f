"""Cost of the agent's loop per verb with a card that costs nothing, as JSON.

PYTHONPATH=tests python benchmarks/agent_loop.py [--repeat 5] [--verbs 10000]

Fake verbs replace pyverbs: a post puts a completion into the queue, and a poll takes it out; no data moves.
`agent_us` is the processor time of one thread per verb without the time of the fake verbs (`device_us`):
a lower bound. pyverbs, a card's doorbell and setting rates come on top. The shares of `posting`, `polling`
and `deciding` (the core, the step around it, keeping rows of tables) follow, and `writing_us`, the time to
write the rows of a verb as text when the flow has ended. `core_full_gbps` is the goodput at which a core is
fully busy, and `budget_share` the share of the time per verb at the given rate. `turn_us` is a poll loop
iteration that finds nothing, `stamp_us` one reading of the host clock. Figures are medians of the rounds.

With `--by-module` it prints the share of each module instead, from a sample of the stack every 0.5 ms.
"""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import FrameType, SimpleNamespace
from typing import Any, NamedTuple, cast

from helpers import fake_verbs_device as queues
from helpers.agent_roles import LIMIT_MS, Stage
from helpers.fake_verbs import EVENT_FILE, fake_pyverbs
from helpers.fake_verbs_device import SendFlags
from helpers.fake_verbs_network import Fabric, QueuePair, SendRequest
from helpers.verbs_ends import BUFFER_BYTES, MTU_BYTES, PORT, connect, remote_of
from measuring import machine

from rogue.agent.core.actions import SUCCESS
from rogue.agent.core.application import Schedule
from rogue.agent.core.connection import Connection
from rogue.agent.core.limiter import LinkFacts
from rogue.agent.core.recovery import Peer
from rogue.agent.core.settings import TransportSettings
from rogue.agent.core.transports import settings_for
from rogue.agent.drivers.recording import THROUGHPUT_COLUMNS as METER_COLUMNS
from rogue.agent.drivers.recording import TRANSFER_COLUMNS, Spool, ThroughputMeter, TransferLog
from rogue.agent.drivers.verbs import completion_queue
from rogue.agent.drivers.verbs.clock import Clocks, host_ns, nic_ns
from rogue.agent.drivers.verbs.completion_queue import CompletionPump
from rogue.agent.drivers.verbs.endpoint import Endpoint, EndpointPlan, opened
from rogue.agent.drivers.verbs.flow import (
    CONTROL_COLUMNS,
    EVENT_COLUMNS,
    RTT_COLUMNS,
    FlowRecords,
    FlowShape,
    VerbsFlow,
    write_sample,
)
from rogue.agent.node.messages import Load, Start


class Case(NamedTuple):
    """One measurement; segment_bytes None: the transport's default at that rate."""

    transport: str
    rate_gbps: int
    mode: str
    segment_bytes: "int | None" = None

    @property
    def name(self) -> str:
        """Name in the report."""
        verbs = "" if self.segment_bytes is None else f" in {self.segment_bytes // 1024} KiB"
        return f"{self.transport} at {self.rate_gbps} Gb/s{verbs}, {self.mode}"


GBPS = 1_000_000_000
SENDS = 64
INTERVAL_NS = 10_000_000
STAMPS = 100_000
TURNS = 10_000
LONG_NS = 3_600_000_000_000
SAMPLE_SECONDS = 0.0005
CASES = (
    *(
        Case(transport, rate, mode)
        for transport, rate in (("rogue", 25), ("rogue", 100), ("roce", 100))
        for mode in ("event", "polling")
    ),
    *(Case("rogue", 40, "polling", segment_bytes) for segment_bytes in (65_536, 131_072)),
)
"""RoGUE has verbs of 64 KiB up to 40 Gb/s and of 256 KiB beyond, native RoCE of 1 MiB; 128 KiB is an
experiment's own `segment`."""
Figures = dict[str, float]


class NullPair(QueuePair):
    """A queue pair that moves no data and completes signalled requests at once."""

    def post_send(self, request: SendRequest) -> None:
        """Complete the request."""
        if request.send_flags & SendFlags.IBV_SEND_SIGNALED:
            self._init.scq.push(queues.WorkCompletion(request.wr_id, SUCCESS, request.sg_list.length))


def main(arguments: list[str]) -> int:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="rounds")
    parser.add_argument("--verbs", type=int, default=10_000, metavar="N", help="verbs in a round")
    parser.add_argument("--by-module", action="store_true", help="print shares of modules")
    chosen = parser.parse_args(arguments)
    completion_queue._EVENT_FILE = EVENT_FILE
    if chosen.by_module:
        sys.stdout.write(json.dumps(shares_of_modules(CASES[0], chosen.verbs), indent=2) + "\n")
        return 0
    rounds = [{case.name: measured(case, chosen.verbs) for case in CASES} for _ in range(chosen.repeat)]
    figures = {
        name: {key: round(median(each[name][key] for each in rounds), 3) for key in rounds[0][name]}
        for name in rounds[0]
    }
    report = {
        "machine": machine(),
        "repeat": chosen.repeat,
        "verbs": chosen.verbs,
        "stamp_us": round(stamp_us(), 3),
        "turn_us": round(median(turn_us() for _ in range(chosen.repeat)), 3),
        "figures": figures,
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return 0


def measured(case: Case, verbs: int) -> Figures:
    """Measure one round of a case."""
    settings, rate_bps = settings_of(case)
    with two_ends(settings.service, case.mode) as (here, there), spooled() as spool:
        device_us = of_device(here, verbs)
        flow = flow_of(settings, rate_bps, here, there, spool)
        pump = CompletionPump(here.queue, host_ns, flow.on_completions, lambda _now: None)
        begin_ns = time.thread_time_ns()
        transfer(flow, pump, verbs * settings.segment_bytes)
        end_ns = time.thread_time_ns()
        spool.flush()
        writing_us = (time.thread_time_ns() - end_ns) / 1e3 / verbs
    log = flow.records.transfers
    assert log.ended["ok"] == 1, log.first_error
    agent_us, spent = (end_ns - begin_ns) / 1e3 / verbs - device_us, pump.spent
    busy_ns = spent.polling_ns + spent.deciding_ns
    return {
        "verb_bytes": settings.segment_bytes,
        "agent_us": agent_us,
        "device_us": device_us,
        "writing_us": writing_us,
        "posting_share": flow.posting_ns / busy_ns,
        "polling_share": spent.polling_ns / busy_ns,
        "deciding_share": (spent.deciding_ns - flow.posting_ns) / busy_ns,
        "verbs_per_poll": verbs / max(1, spent.polls),
        "budget_share": agent_us * 1e3 * case.rate_gbps / (8 * settings.segment_bytes),
        "core_full_gbps": settings.segment_bytes * 8 / agent_us / 1e3,
    }


def settings_of(case: Case) -> tuple[TransportSettings, int]:
    """Return the transport's settings and the line rate in bit/s."""
    own = {} if case.segment_bytes is None else {"segment_bytes": case.segment_bytes}
    return settings_for(case.transport, case.rate_gbps * GBPS, own), case.rate_gbps * GBPS


def transfer(flow: VerbsFlow, pump: CompletionPump, size_bytes: int) -> None:
    """Send one transfer of this size, and return when it has completed."""
    flow.follow(Schedule(size_bytes, host_ns()))
    flow.on_time(host_ns())
    while not flow.is_finished:
        pump.drain(host_ns())
        if (due_ns := flow.deadline_ns) is not None and due_ns <= host_ns():
            flow.on_time(host_ns())


def shares_of_modules(case: Case, verbs: int) -> dict[str, float]:
    """Return the share of each module of the agent in the processor time of its loop."""
    samples: Counter[str] = Counter()

    def on_sample(_signal: int, frame: FrameType | None) -> None:
        while frame is not None and not frame.f_code.co_filename.endswith(".py"):
            frame = frame.f_back  # code of named tuples is in no file
        if frame is not None and "/agent/" in frame.f_code.co_filename:
            samples[frame.f_code.co_filename.split("/agent/")[1]] += 1

    settings, rate_bps = settings_of(case)
    with two_ends(settings.service, case.mode) as (here, there), spooled() as spool:
        flow = flow_of(settings, rate_bps, here, there, spool)
        pump = CompletionPump(here.queue, host_ns, flow.on_completions, lambda _now: None)
        signal.signal(signal.SIGPROF, on_sample)
        signal.setitimer(signal.ITIMER_PROF, SAMPLE_SECONDS, SAMPLE_SECONDS)
        transfer(flow, pump, verbs * settings.segment_bytes)
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {name: round(count / samples.total(), 3) for name, count in samples.most_common()}


@contextmanager
def two_ends(service: str, mode: str) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Connect two endpoints whose queue pairs move no data."""
    fabric = Fabric()
    pyverbs = fake_pyverbs(fabric)
    pyverbs.qp.QP = lambda pd, init: NullPair(fabric, pd, init)
    plan = EndpointPlan(cast(Any, service), BUFFER_BYTES, SENDS, completions=cast(Any, mode))
    with ExitStack() as stack:
        here, there = (stack.enter_context(opened(pyverbs, PORT, plan, nic_ns)) for _ in range(2))
        connect(here, there)
        yield here, there


@contextmanager
def spooled() -> Iterator[Spool]:
    """Yield tables as in a data process, in a temporary directory."""
    with TemporaryDirectory() as directory:
        spool = Spool(Path(directory), "flow")
        yield spool
        spool.close()


def flow_of(
    settings: TransportSettings, rate_bps: int, here: Endpoint, there: Endpoint, spool: Spool
) -> VerbsFlow:
    """Return a flow with all its tables, as a data process makes it."""
    link = LinkFacts(rate_bps, MTU_BYTES, rate_step_bps=1_000_000, has_limiter=False)
    peer = Peer(link, there.queue_pair.qp_num, None, None)
    connection = Connection(settings, link, here.queue_pair.qp_num, tracing=True, peer=peer)
    records = FlowRecords(
        TransferLog(spool.table("transfers", TRANSFER_COLUMNS)),
        spool.table("events", EVENT_COLUMNS),
        spool.late(
            partial(write_sample, spool.table("rtt", RTT_COLUMNS), spool.table("control", CONTROL_COLUMNS))
        ),
        ThroughputMeter(spool.table("throughput", METER_COLUMNS), INTERVAL_NS),
    )
    shape = FlowShape(BUFFER_BYTES, settings.segment_bytes, MTU_BYTES, False)
    clocks = Clocks(host_ns, nic_ns)
    return VerbsFlow(connection, here, remote_of(there).memory, shape, None, records, clocks)


def of_device(here: Endpoint, verbs: int) -> float:
    """Return the time in µs of the fake verbs per verb: a post, and its completion in the queue."""
    pair = cast(Any, here.queue_pair)._qp
    queue = here.queue.cq
    is_extended = isinstance(queue, queues.ExtendedQueue)
    request = SimpleNamespace(
        wr_id=1, send_flags=SendFlags.IBV_SEND_SIGNALED, sg_list=SimpleNamespace(length=1)
    )
    begin_ns = time.thread_time_ns()
    for _ in range(verbs):
        pair.post_send(request)
        if is_extended:
            queue.start_poll(None)
            _ = queue.wr_id, queue.status
            queue.end_poll()
        else:
            queue.poll(32)
    return (time.thread_time_ns() - begin_ns) / 1e3 / verbs


def turn_us() -> float:
    """Return the time in µs of a data process's loop iteration that finds nothing."""
    with TemporaryDirectory() as directory, ExitStack() as stack:
        stage = Stage(Path(directory), stack, clock=cast(Any, SimpleNamespace(read=host_ns)))
        here, _ = stage.pair(completions="polling", buffer_bytes=BUFFER_BYTES)
        here.role.handle(Load("here", LIMIT_MS, 0, count=None, interval_ns=LONG_NS))
        here.role.handle(Start("here", LIMIT_MS, host_ns(), LONG_NS))
        here.turn()
        begin_ns = time.thread_time_ns()
        for _ in range(TURNS):
            here.context.poller.turn(here.role.deadline_ns)
            here.role.on_time(host_ns())
        return (time.thread_time_ns() - begin_ns) / 1e3 / TURNS


def stamp_us() -> float:
    """Return the time in µs of one reading of the host clock."""
    begin_ns = time.thread_time_ns()
    for _ in range(STAMPS):
        host_ns()
    return (time.thread_time_ns() - begin_ns) / 1e3 / STAMPS


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
