"""Nodes while a cell runs: SSH connections, agents and clocks."""

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, TypeVar

from rogue.agent.node.fields import AgentError, ErrorKind
from rogue.agent.node.messages import Capabilities, Clock, ClockReading, Message
from rogue.agent.node.wire import AgentClient
from rogue.harness.provisioning.inventory import Host, HostVariables, Inventory, SwitchNode
from rogue.harness.provisioning.places import AGENT_COMMAND
from rogue.harness.testbeds.base import TestbedError
from rogue.remote.connection import Channel, Connection, connect
from rogue.remote.errors import NodeError
from rogue.workloads.records import FailureKind

CONNECT_LIMIT_S: Final = 30.0
REPLY_LIMIT_S: Final = 60.0
"""The limit of a node's reply; an emulated node is slow."""
ROLE_LIMIT_MS: Final = int((REPLY_LIMIT_S - 5.0) * 1000)
"""The supervisor gives up on a data process before we give up on the supervisor."""
AGENT_START_LIMIT_S: Final = 180.0
"""Python starts, and imports all that the agent has; on an emulated node on a busy computer."""
HEARTBEAT_LIMIT_S: Final = 15.0
"""A node without a heartbeat for this long is lost."""
SILENCE_LIMIT_MS: Final = 300_000
"""An agent without a request for this long ends itself."""
CLOCK_READINGS: Final = 8

ReplyT = TypeVar("ReplyT", bound=Message)

_KINDS: Final = {
    ErrorKind.PROTOCOL: FailureKind.AGENT,
    ErrorKind.CONFIGURATION: FailureKind.CONFIGURATION,
    ErrorKind.VERBS: FailureKind.VERBS,
    ErrorKind.OUT_OF_SPACE: FailureKind.OUT_OF_SPACE,
    ErrorKind.TIMEOUT: FailureKind.TIMEOUT,
    ErrorKind.BUG: FailureKind.AGENT,
}


class Node:
    """A node that listens."""

    def __init__(self, machine: Host | SwitchNode, connection: Connection, channel: Channel) -> None:
        self.machine = machine
        self.connection = connection
        self._channel = channel
        self._client = AgentClient(channel)
        with self._reported():
            self.capabilities: Capabilities = self._client.open(SILENCE_LIMIT_MS)
        self.clock_offset_ns = self.clock_error_ns = 0
        self.compare_clocks()

    @property
    def name(self) -> str:
        """Return the host's name in the topology, or the switch machine's in the inventory."""
        return self.machine.name

    @property
    def variables(self) -> HostVariables:
        """Return the variables of a host."""
        assert isinstance(self.machine, Host)
        return self.machine.variables

    def ask(self, message: Message, reply: type[ReplyT], limit_s: float = REPLY_LIMIT_S) -> ReplyT:
        """Ask the agent something; TestbedError says whose fault it is that there is no reply."""
        self._channel.settimeout(limit_s)
        with self._reported():
            return self._client.request(message, reply)

    def own_ns(self, harness_ns: int) -> int:
        """Return an instant of this process's monotonic clock on the node's own."""
        return harness_ns + self.clock_offset_ns

    def fetch(self, path: str) -> bytes:
        """Copy a file from the node."""
        with self._reported():
            return self.connection.get(path)

    def log(self) -> bytes:
        """Return what the agent has printed on its standard error so far."""
        words = b""
        while self._channel.recv_stderr_ready():
            words += self._channel.recv_stderr(65_536)
        return words

    def close(self) -> None:
        """Ask the agent to end; it also ends with the connection."""
        try:
            self._channel.settimeout(CONNECT_LIMIT_S)
            self._client.close()
        except (AgentError, OSError):
            pass
        self._channel.close()

    def compare_clocks(self) -> None:
        """Learn how far the node's clock is ahead, and how wrong that may be: by the quickest exchange."""
        best: tuple[int, int] | None = None
        for _ in range(CLOCK_READINGS):
            asked_ns = time.monotonic_ns()
            there_ns = self.ask(Clock(), ClockReading).now_ns
            replied_ns = time.monotonic_ns()
            reading = (replied_ns - asked_ns, there_ns - (asked_ns + replied_ns) // 2)
            best = min(best, reading) if best else reading
        assert best is not None
        self.clock_offset_ns, self.clock_error_ns = best[1], best[0] // 2

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except AgentError as error:
            raise self._failure(error) from error
        except (NodeError, OSError) as error:
            raise TestbedError(FailureKind.NODE_LOST, f"{self.name}: {error}") from error

    def _failure(self, error: AgentError) -> TestbedError:
        """Return the failure; the node is lost if its connection or its supervisor is."""
        kind = _KINDS[error.kind]
        transport = self._channel.get_transport()
        is_cut = error.kind is ErrorKind.PROTOCOL and (transport is None or not transport.is_active())
        if is_cut or (error.kind is ErrorKind.TIMEOUT and error.role is None):
            kind = FailureKind.NODE_LOST
        role = f", role {error.role}" if error.role else ""
        return TestbedError(kind, f"{self.name}{role}: {error}")


def start_command(user: str) -> str:
    """Return the command that starts the agent as root, who may set limiters and lock memory."""
    return AGENT_COMMAND if user == "root" else f"sudo -n {AGENT_COMMAND}"


@contextmanager
def open_node(machine: Host | SwitchNode) -> Iterator[Node]:
    """Connect to a node and start its agent; both end with the context."""
    login = machine.login
    try:
        with connect(login, limit_s=CONNECT_LIMIT_S) as connection:
            channel = connection.open_session(start_command(login.user), limit_s=AGENT_START_LIMIT_S)
            node = Node(machine, connection, channel)
            try:
                yield node
            finally:
                node.close()
    except NodeError as error:
        raise TestbedError(FailureKind.NODE_LOST, str(error)) from error


class _Kept:
    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.stack = ExitStack()


_kept: dict[Path, _Kept] = {}
"""One process runs one cell after the other, and a testbed is pickled anew for each."""


@contextmanager
def open_nodes(inventory: Inventory, names: Iterable[str]) -> Iterator[dict[str, Node]]:
    """Yield nodes with a running agent and compared clocks.

    They stay open for the next cell unless this one fails: then their state is unknown, and all
    are closed. They end with this process in any case. One that has ended by itself, as agents do that hear
    nothing for long, is opened anew.
    """
    kept = _kept.setdefault(inventory.path, _Kept())
    wanted = sorted(names)
    try:
        listening = _listening({name: kept.nodes[name] for name in wanted if name in kept.nodes})
        kept.nodes |= open_all(inventory, set(wanted) - listening, kept.stack)
        yield {name: kept.nodes[name] for name in wanted}
    except BaseException:
        close_nodes(inventory)
        raise


def _listening(nodes: Mapping[str, Node]) -> set[str]:
    def listens(node: Node) -> bool:
        try:
            node.compare_clocks()
        except TestbedError:
            return False
        return True

    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        return {
            name for name, is_there in zip(nodes, pool.map(listens, nodes.values()), strict=True) if is_there
        }


def close_nodes(inventory: Inventory) -> None:
    """End all agents of an inventory that this process talks to."""
    kept = _kept.pop(inventory.path, None)
    if kept is not None:
        kept.stack.close()


def open_all(inventory: Inventory, names: Iterable[str], stack: ExitStack) -> dict[str, Node]:
    """Connect to hosts, and to the switch machine, at the same time; the connections end with the stack."""
    machines = {each.name: each for each in inventory.machines}
    wanted = [machines[name] for name in sorted(names)]
    with ThreadPoolExecutor(max(1, len(wanted))) as pool:
        opened = [(each.name, pool.submit(stack.enter_context, open_node(each))) for each in wanted]
        return {name: future.result() for name, future in opened}
