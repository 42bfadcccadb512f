"""Moves bytes between two machines by RC WRITE, with the agent that real nodes run."""

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Literal

from rogue.agent.node.bundle import agent_archive
from rogue.agent.node.client import AgentClient
from rogue.agent.node.errors import AgentError
from rogue.agent.node.messages import (
    Clock,
    ClockReading,
    Connect,
    Connected,
    Load,
    Loaded,
    Prepare,
    Prepared,
    Result,
    Results,
    Start,
    Started,
)
from rogue.remote.login import Login
from rogue.remote.shell import Shell, connect
from rogue.virtual.errors import VirtualTestbedError

AGENT_PATH = "/root/rogue-agent.pyz"
ROLE = "mover"
STEP_LIMIT_MS = 120_000
_NS_PER_MS = 1_000_000
PATIENT = {"timeout_exponent": 18, "retry_count": 7}  # 8 times 1.07 s


@dataclass(frozen=True, slots=True)
class Order:
    """What to move, by which transport; `fill_seed` decides the bytes.

    parameters: of the transport. By default the queue pair is patient: an emulated processor stands still for
    as long as a busy host likes, which no retry in a real network has to bridge.
    """

    size_bytes: int
    transport: str
    fill_seed: int
    parameters: Mapping[str, object] = field(default_factory=lambda: dict(PATIENT))
    time_limit_ms: int = 300_000


@dataclass(frozen=True, slots=True)
class TransferEnd:
    """One end of the transfer: the machine and its address on the experiment network."""

    login: Login
    address: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What both ends say about themselves and about the transfer."""

    requester: Prepared
    sent: Results
    received: Results
    samples: list[dict[str, str]]
    """The requester's, one of each RTT."""


def move(source: TransferEnd, destination: TransferEnd, order: Order) -> Moved:
    """Copy the agent to both machines and have it write the source's buffer into the destination's."""
    with ExitStack() as stack:
        sender, requester = stack.enter_context(agent(source.login))
        _, responder = stack.enter_context(agent(destination.login))
        here = requester.request(prepare_request(source, order, "requester"), Prepared)
        there = responder.request(prepare_request(destination, order, "responder"), Prepared)
        responder.request(Connect(ROLE, STEP_LIMIT_MS, here), Connected)
        requester.request(Connect(ROLE, STEP_LIMIT_MS, there), Connected)
        start(requester, order)
        sent = requester.request(Result(ROLE, order.time_limit_ms + STEP_LIMIT_MS, checksum=True), Results)
        received = responder.request(Result(ROLE, STEP_LIMIT_MS, checksum=True), Results)
        table = sender.get(str(sent.files["rtt"])).decode() if "rtt" in sent.files else ""
        responder.close()
        requester.close()
        return Moved(here, sent, received, list(csv.DictReader(io.StringIO(table))))


@contextmanager
def agent(login: Login) -> Iterator[tuple[Shell, AgentClient]]:
    """Put the agent on a machine and open a conversation with it; an error carries the agent's own words."""
    with connect(login) as connection:
        connection.put(agent_archive(), AGENT_PATH)
        channel = connection.open_session(f"python3 {AGENT_PATH} serve")
        client = AgentClient(channel)
        try:
            client.open()
            yield connection, client
        except AgentError as error:
            words = (
                channel.recv_stderr(65_536).decode(errors="replace") if channel.recv_stderr_ready() else ""
            )
            problem = f"agent on {login.node}: {error.kind.value}: {error}"
            raise VirtualTestbedError("\n".join([problem, words]).strip()) from error


def prepare_request(end: TransferEnd, order: Order, part: Literal["requester", "responder"]) -> Prepare:
    """Ask one end for a buffer of the order's size; only the requester's is filled."""
    return Prepare(
        role=ROLE,
        time_limit_ms=STEP_LIMIT_MS,
        end=part,
        address=end.address,
        transport=order.transport,
        buffer_bytes=order.size_bytes,
        parameters=dict(order.parameters),
        fill_seed=order.fill_seed if part == "requester" else None,
    )


def start(requester: AgentClient, order: Order) -> None:
    """Have the requester move the order's bytes once, at once."""
    requester.request(Load(ROLE, STEP_LIMIT_MS, order.size_bytes), Loaded)
    now_ns = requester.request(Clock(), ClockReading).now_ns
    requester.request(Start(ROLE, STEP_LIMIT_MS, now_ns, order.time_limit_ms * _NS_PER_MS), Started)
