"""Flows between real nodes: a client for each, and both ends of a flow from `prepare` to their tables."""

import csv
import io
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from rogue.agent.node.bundle import agent_archive
from rogue.agent.node.fields import AgentError
from rogue.agent.node.messages import (
    Alive,
    Clock,
    ClockReading,
    Connect,
    Connected,
    EndRole,
    Heartbeat,
    Load,
    Loaded,
    Prepare,
    Prepared,
    Result,
    Results,
    RoleEnded,
    Start,
    Started,
)
from rogue.agent.node.wire import AgentClient
from rogue.remote.connection import Connection, connect
from rogue.remote.login import Login
from rogue.virtual.errors import VirtualTestbedError

LIMIT_MS = 300_000
PATIENT = {"timeout_exponent": 18, "retry_count": 7}
"""8 times 1.07 s: an emulated processor stands still for as long as a busy host likes."""
_AGENT_PATH = "/root/rogue-agent.pyz"
_EXCHANGES = 5
_HEARTBEAT_S = 0.1
_NS_PER_S = 1_000_000_000
_START_IN_NS = _NS_PER_S // 2
Rows = list[dict[str, str]]


class Node:
    """One node: its agent, its experiment address, and how far its clock is ahead of ours."""

    def __init__(self, connection: Connection, client: AgentClient, address: str) -> None:
        self.connection = connection
        self.client = client
        self.address = address
        self.offset_ns = min(self._exchange() for _ in range(_EXCHANGES))[1]

    def _exchange(self) -> tuple[int, int]:
        sent_ns = time.monotonic_ns()
        now_ns = self.client.request(Clock(), ClockReading).now_ns
        received_ns = time.monotonic_ns()
        return received_ns - sent_ns, now_ns - (sent_ns + received_ns) // 2


@contextmanager
def agent(login: Login) -> Iterator[tuple[Connection, AgentClient]]:
    """Put the agent on a machine and open a conversation with it; an error carries the agent's own words."""
    with connect(login) as connection:
        connection.sftp().putfo(io.BytesIO(agent_archive()), _AGENT_PATH)
        channel = connection.open_session(f"python3 {_AGENT_PATH} serve")
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


@contextmanager
def node(login: Login, address: str) -> Iterator[Node]:
    """Talk to the agent on a machine."""
    with agent(login) as (connection, client):
        yield Node(connection, client, address)
        client.close()


class Flow:
    """Both ends of one flow, connected; `options` go into both `prepare` requests."""

    def __init__(
        self,
        source: Node,
        destination: Node,
        transport: str,
        *,
        buffer_bytes: int,
        requester: Mapping[str, object] | None = None,
        **options: object,
    ) -> None:
        self.nodes = {"requester": source, "responder": destination}
        seeds = (None, 7) if options.get("verb") == "read" else (7, None)
        ends: tuple[Literal["requester", "responder"], ...] = ("requester", "responder")
        self.introductions = {}
        for end, fill_seed in zip(ends, seeds, strict=True):
            values = {**options, **(requester or {} if end == "requester" else {})}
            request = Prepare(
                end,
                LIMIT_MS,
                end,
                self.nodes[end].address,
                transport,
                buffer_bytes,
                fill_seed=fill_seed,
                **values,  # type: ignore[arg-type]
            )
            self.introductions[end] = self.nodes[end].client.request(request, Prepared)
        for end, other in (("responder", "requester"), ("requester", "responder")):
            peer = self.introductions[other]  # type: ignore[index]
            self.nodes[end].client.request(Connect(end, LIMIT_MS, peer), Connected)

    def run(
        self, size_bytes: int, *, run_s: int = 120, count: int | None = 1, **load: int | None
    ) -> tuple[Results, Results]:
        """Start both ends at one instant, wait for the requester's end, and return what both say."""
        self.start(size_bytes, run_s=run_s, count=count, **load)
        return self.end()

    def start(self, size_bytes: int, *, run_s: int, count: int | None = 1, **load: int | None) -> None:
        """Start both ends at one instant; `load` goes into the schedule."""
        source = self.nodes["requester"].client
        source.request(Load("requester", LIMIT_MS, size_bytes, count=count, **load), Loaded)
        at_ns = time.monotonic_ns() + _START_IN_NS
        for end in ("responder", "requester"):
            there = self.nodes[end]
            start = Start(end, LIMIT_MS, at_ns + there.offset_ns, run_s * _NS_PER_S)
            there.client.request(start, Started)

    def end(self) -> tuple[Results, Results]:
        """Wait for the requester's end, and return what both ends say."""
        heartbeat = Heartbeat("requester", LIMIT_MS)
        source = self.nodes["requester"].client
        while source.request(heartbeat, Alive).state not in {"finished", "failed"}:
            time.sleep(_HEARTBEAT_S)
        sent, received = (
            self.nodes[end].client.request(Result(end, LIMIT_MS, checksum=True), Results)
            for end in ("requester", "responder")
        )
        return sent, received

    def text(self, end: str, results: Results, name: str) -> str:
        """One of the files of an end."""
        return self.nodes[end].connection.get(str(results.files[name])).decode()

    def rows(self, end: str, results: Results, name: str) -> Rows:
        """One of the tables of an end."""
        return list(csv.DictReader(io.StringIO(self.text(end, results, name))))

    def close(self) -> None:
        """End both roles, so that their names are free again."""
        for end, there in self.nodes.items():
            there.client.request(EndRole(end, LIMIT_MS), RoleEnded)
