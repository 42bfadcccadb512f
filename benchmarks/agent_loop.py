"""What the agent's own loop costs per verb, with a card that costs nothing, as JSON.

PYTHONPATH=tests python benchmarks/agent_loop.py [--repeat 5] [--verbs 10000]

The verbs are pretended at the boundary of pyverbs: a post puts a completion into the queue, and a poll takes
it out; nothing moves. `agent_us` is the processor time of one thread per verb without what the pretended
verbs themselves take (`device_us`): the least that a core spends. pyverbs, a card's doorbell and rates that
are set come on top. Beside it the shares of `posting`, `polling` and `deciding` (the core, the step around
it, keeping rows of tables), and `writing_us`, which the rows of a verb take to become text when the flow has
ended. `core_full_gbps` is the payload at which a core has nothing left, and
`budget_share` what it spends of the time that a verb has at the rate. `turn_us` is a turn of a process that
polls and finds nothing, `stamp_us` one reading of the host's clock. Medians of the rounds.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from helpers import fake_verbs_device as queues
from helpers.agent_roles import LIMIT_MS, Stage
from helpers.fake_verbs import EVENT_FILE, fake_pyverbs
from helpers.fake_verbs_device import SendFlags
from helpers.fake_verbs_network import Fabric, QueuePair, SendRequest
from helpers.verbs_ends import BUFFER_BYTES, MTU_BYTES, PORT, connect, remote_of

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
    """What is measured; segment_bytes: None for the transport's own at that rate."""

    transport: str
    rate_gbps: int
    mode: str
    segment_bytes: "int | None" = None

    @property
    def name(self) -> str:
        """In the report."""
        verbs = "" if self.segment_bytes is None else f" in {self.segment_bytes // 1024} KiB"
        return f"{self.transport} at {self.rate_gbps} Gb/s{verbs}, {self.mode}"


GBPS = 1_000_000_000
SENDS = 64
INTERVAL_NS = 10_000_000
STAMPS = 100_000
TURNS = 10_000
LONG_NS = 3_600_000_000_000
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
    """Moves nothing: what asks for a completion has one at once."""

    def post_send(self, request: SendRequest) -> None:
        """Complete it."""
        if request.send_flags & SendFlags.IBV_SEND_SIGNALED:
            self._init.scq.push(queues.WorkCompletion(request.wr_id, SUCCESS, request.sg_list.length))


def main(arguments: list[str]) -> int:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="rounds")
    parser.add_argument("--verbs", type=int, default=10_000, metavar="N", help="verbs in a round")
    chosen = parser.parse_args(arguments)
    completion_queue._EVENT_FILE = EVENT_FILE
    rounds = [{case.name: measured(case, chosen.verbs) for case in CASES} for _ in range(chosen.repeat)]
    figures = {
        name: {key: round(median(each[name][key] for each in rounds), 3) for key in rounds[0][name]}
        for name in rounds[0]
    }
    report = {
        "machine": processor(),
        "repeat": chosen.repeat,
        "verbs": chosen.verbs,
        "stamp_us": round(stamp_us(), 3),
        "turn_us": round(median(turn_us() for _ in range(chosen.repeat)), 3),
        "figures": figures,
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    return 0


def measured(case: Case, verbs: int) -> Figures:
    """One round of a transport."""
    rate_bps = case.rate_gbps * GBPS
    own = {} if case.segment_bytes is None else {"segment_bytes": case.segment_bytes}
    settings = settings_for(case.transport, rate_bps, own)
    with two_ends(settings.service, case.mode) as (here, there), spooled() as spool:
        device_us = of_device(here, verbs)
        flow = flow_of(settings, rate_bps, here, there, spool)
        pump = CompletionPump(here.queue, host_ns, flow.on_completions, lambda _now: None)
        begin_ns = time.thread_time_ns()
        flow.follow(Schedule(verbs * settings.segment_bytes, host_ns()))
        flow.on_time(host_ns())
        while not flow.is_finished:
            pump.drain(host_ns())
            if (due_ns := flow.deadline_ns) is not None and due_ns <= host_ns():
                flow.on_time(host_ns())
        end_ns = time.thread_time_ns()
        spool.flush()
        writing_us = (time.thread_time_ns() - end_ns) / 1e3 / verbs
    assert flow.ended["ok"] == 1, flow.first_error
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


@contextmanager
def two_ends(service: str, mode: str) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Connected, over queue pairs that move nothing."""
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
    """Tables as a data process has them, in a directory that is gone afterwards."""
    with TemporaryDirectory() as directory:
        spool = Spool(Path(directory), "flow")
        yield spool
        spool.close()


def flow_of(
    settings: TransportSettings, rate_bps: int, here: Endpoint, there: Endpoint, spool: Spool
) -> VerbsFlow:
    """As a data process makes one, with all its tables."""
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
    """µs per verb that the pretended verbs take: a post, and the completion's way through the queue."""
    pair = cast(Any, here.queue_pair)._qp
    queue = cast(Any, here.queue.handle)
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
    """A turn of a data process that polls and finds nothing: requests, deadlines, and an empty queue."""
    with TemporaryDirectory() as directory, ExitStack() as stack:
        stage = Stage(Path(directory), stack, clock=cast(Any, SimpleNamespace(read=host_ns)))
        here, _ = stage.pair(completions="polling", buffer_bytes=BUFFER_BYTES)
        here.role.handle(Load("here", LIMIT_MS, 0, count=None, interval_ns=LONG_NS))
        here.role.handle(Start("here", LIMIT_MS, host_ns(), LONG_NS))
        here.turn()
        begin_ns = time.thread_time_ns()
        for _ in range(TURNS):
            here.workplace.poller.turn(here.role.deadline_ns)
            here.role.on_time(host_ns())
        return (time.thread_time_ns() - begin_ns) / 1e3 / TURNS


def stamp_us() -> float:
    """One reading of the host's clock."""
    begin_ns = time.thread_time_ns()
    for _ in range(STAMPS):
        host_ns()
    return (time.thread_time_ns() - begin_ns) / 1e3 / STAMPS


def processor() -> str:
    """Name the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
