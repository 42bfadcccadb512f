"""Nodes whose agents reply from memory: the conversation is real, the network is a few numbers."""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, Self, cast

import paramiko

from rogue.agent.node.messages import (
    PROTOCOL,
    After,
    Alive,
    Arrivals,
    Capabilities,
    Clock,
    ClockReading,
    Connect,
    Connected,
    EndRole,
    Error,
    Heartbeat,
    Hello,
    Load,
    Loaded,
    Message,
    Prepare,
    Prepared,
    Result,
    Results,
    RoleEnded,
    Start,
    Started,
    Stop,
    Stopped,
    Watch,
    Watching,
)
from rogue.agent.node.wire import REQUEST_TYPES, decode, encode
from rogue.harness.provisioning.inventory import (
    Host,
    HostVariables,
    Inventory,
    SwitchNode,
    SwitchPort,
    SwitchVariables,
)
from rogue.harness.provisioning.linux_switch import PortCounters, PortSettings
from rogue.harness.testbeds.ssh.nodes import Node
from rogue.remote.connection import Connection
from rogue.remote.errors import NodeError
from rogue.remote.login import Login

DIRECTORY = "/var/lib/rogue/agent"
CAPABILITIES = Capabilities(
    protocol=PROTOCOL, host="node", kernel="6.1.0", python="3.11.2", pyverbs="44.0", cores=2,
    memory_bytes=2**28, congestion_controls=["reno", "cubic", "dctcp"],
    ports=[{"device": "rxe0", "driver": "software"}], limiters=["htb:eth1", "software"],
    directory=DIRECTORY,
)  # fmt: skip


PLAIN_REPLIES: dict[type[Message], Callable[[Any], Message]] = {
    Prepare: lambda request: prepared(request.role),
    Connect: lambda request: Connected(request.role),
    Load: lambda request: Loaded(request.role, request.count),
    Arrivals: lambda request: Loaded(request.role, len(request.arrivals)),
    After: lambda request: Loaded(request.role, len(request.waits)),
    Start: lambda request: Started(request.role),
    Watch: lambda request: Watching(request.role),
    EndRole: lambda request: RoleEnded(request.role),
    Stop: lambda _request: Stopped(),
}


class FakeAgent:
    """One node's agent; `files` by role and name; `replies` replace what it says to a kind of request."""

    def __init__(self, now_ns: int = 10**9) -> None:
        self.now_ns = now_ns
        self.requests: list[Message] = []
        self.files: dict[str, dict[str, bytes]] = {}
        self.left: dict[str, bytes] = {}
        """What lies in its directory beside, by name."""
        self.unreadable: set[str] = set()
        self.listings = 0
        self.replies: dict[type[Message], Callable[[Message], Message | None]] = {}
        self.capabilities = CAPABILITIES
        self.sha256: str | None = "ab" * 32
        self.has_dool = True

    def reply(self, request: Message) -> Message | None:
        self.requests.append(request)
        reply = self.replies.get(type(request))
        return self._usual_reply(request) if reply is None else reply(request)

    def _usual_reply(self, request: Any) -> Message:
        match request:
            case Hello():
                return self.capabilities
            case Clock():
                return ClockReading(self.now_ns)
            case Heartbeat(role=role):
                return Alive(role, "finished", self.now_ns, 1, 1000, None)
            case Result(role=role):
                return self._results(role)
        return PLAIN_REPLIES[type(request)](request)

    def _results(self, role: str) -> Results:
        status = "ok" if role.endswith("requester") else "idle"
        files: dict[str, object] = {name: f"/tmp/{role}/{name}" for name in self.files.get(role, {})}
        return Results(
            role, status, self.now_ns, self.now_ns + 10**9, transfers_ok=1, sha256=self.sha256, files=files
        )


def prepared(role: str) -> Prepared:
    return Prepared(
        role, "rc", "10.9.0.10", 10**8, 4096, "host", "event", "htb", device="rxe0", qp_num=17, psn=1
    )


class FakeChannel:
    """The two standard streams of an agent; it says nothing any more once `is_cut`."""

    def __init__(self, agent: FakeAgent) -> None:
        self._agent = agent
        self._said = b""
        self.is_cut = False

    def settimeout(self, _limit_s: float) -> None: ...

    def sendall(self, data: bytes) -> None:
        if not self.is_cut and (reply := self._agent.reply(decode(data.strip(), REQUEST_TYPES))):
            self._said += encode(reply)

    def recv(self, size: int) -> bytes:
        if not self._said and not self.is_cut:
            raise TimeoutError
        said, self._said = self._said[:size], self._said[size:]
        return said

    def recv_stderr_ready(self) -> bool:
        return False

    def get_transport(self) -> "FakeChannel":
        return self

    def is_active(self) -> bool:
        return not self.is_cut

    def close(self) -> None:
        self.is_cut = True


DOOL = b""""dool 1.3.8 CSV Output"
"Author:","Scott Baker"
"Host:","h0",,,,"User:","root"
"Cmdline:","dool --epoch --cpu --output x 1",,,,"Date:","20 Nov 2026"

"epoch","total cpu usage",,,,
"epoch","usr","sys","idl","wai","stl"
1763632800.100,10,20,69,1,0
1763632801.100,25.0,25.0,50.0,0,0
1763632802.100,0,0,60.5,30.0,0
1763632803.100,90,10,0
"""


class DoolChannel:
    """dool's standard streams: the node's calendar says 1763632800 s."""

    def __init__(self) -> None:
        self._said = b"1763632800000000000\n"
        self.is_told_to_end = False
        self.table = DOOL

    def die(self, last_words: bytes = b"") -> None:
        """End without a table, as when there is no shell or the connection breaks."""
        self._said, self.table, self.is_told_to_end = last_words, b"", True

    def settimeout(self, _limit_s: float) -> None: ...

    def recv(self, size: int) -> bytes:
        assert self._said or self.is_told_to_end, "this would wait for ever"
        said, self._said = self._said[:size], self._said[size:]
        return said

    def shutdown_write(self) -> None:
        self.is_told_to_end = True
        self._said += self.table

    def close(self) -> None: ...


class FakeConnection:
    """Gives out the files of an agent, and runs nothing but dool."""

    def __init__(self, agent: FakeAgent, node: str = "h0") -> None:
        self._agent = agent
        self.node = node
        self.dool = DoolChannel()
        if not agent.has_dool:
            self.dool.table = b""

    def open_session(self, command: str) -> DoolChannel:
        assert "dool --epoch --cpu --output" in command
        return self.dool

    def get(self, path: str) -> bytes:
        directory, _, name = path.rpartition("/")
        if directory == DIRECTORY:
            if name in self._agent.unreadable:
                raise NodeError(f"{self.node}: SSH failed: permission denied")
            return self._agent.left[name]
        return self._agent.files[directory.rpartition("/")[2]][name]

    def sizes_bytes(self, directory: str) -> dict[str, int]:
        assert directory == DIRECTORY
        self._agent.listings += 1
        return {name: len(content) for name, content in self._agent.left.items()}


def fake_node(name: str, agent: FakeAgent) -> Node:
    channel = cast("paramiko.Channel", FakeChannel(agent))
    machine = fake_inventory().switch if name == "fabric" else fake_host(name)
    assert machine is not None
    return Node(machine, cast("Connection", FakeConnection(agent, name)), channel)


def fake_host(name: str) -> Host:
    variables = HostVariables(
        experiment_address=IPv4Address(f"10.9.0.{10 + int(name[1:])}"),
        experiment_interface="eth1",
        experiment_mtu=4300,
        rdma_device_kind="soft_roce",
    )
    return Host(_login(name), variables)


def fake_inventory(hosts: int = 4, ports: Mapping[str, str] | None = None) -> Inventory:
    """A star of hosts around s0; `ports` replace the switch's, interface by name."""
    wanted = ports or {f"s0->h{index}": f"eth{index + 1}" for index in range(hosts)}
    switch_ports = tuple(
        SwitchPort(bridge=name.partition("->")[0], interface=interface, peer=name.partition("->")[2])
        for name, interface in wanted.items()
    )
    variables = SwitchVariables(ports=switch_ports, experiment_mtu=4300)
    names = tuple(fake_host(f"h{index}") for index in range(hosts))
    return Inventory(Path("inventory.yaml"), "virtual", names, SwitchNode(_login("fabric"), variables))


def _login(name: str) -> Login:
    return Login(name, "127.0.0.1", 22, "root", (), (Path("known_hosts"),))


def gone(request: Message, kind: str, role: str | None, text: str) -> Error:
    return Error(role=role, kind=kind, message=text, to=request.wire_type, is_gone=role is not None)


TRANSFERS = b"""\
transfer_id,size_bytes,start_ns,end_ns,status,error,retransmitted_bytes
1,1000000,1000000000,1100000000,ok,,
"""


class FakeSwitch:
    """Counts how often it is asked, and what ports are set to."""

    cuts: list[tuple[str, float, float]]
    breaks = False

    def __init__(self, _inventory: object) -> None:
        self._reads = 0
        self._names: list[str] = []
        type(self).cuts = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def apply(self, ports: Mapping[str, PortSettings]) -> None:
        if self.breaks:
            raise NodeError("fabric: `tc -batch -` failed")
        self._names = list(ports)

    def counters(self) -> dict[str, PortCounters]:
        self._reads += 1
        return {name: PortCounters(sent_bytes=1000 * self._reads) for name in self._names}

    def cut(self, port: str, *, after_s: float, duration_s: float) -> None:
        self.cuts.append((port, after_s, duration_s))
