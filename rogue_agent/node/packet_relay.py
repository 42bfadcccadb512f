"""Carry out packet events in a Linux bridge: take packets out where they come in, and send them on.

`tc` drops the packets of the watched directions at the interface where they come in. This process has a copy
of each (packet(7)) and sends it on through a pair of interfaces into the same bridge; netem delays it. The
kernel forwards all other packets itself. Under a virtual clock a relayed packet takes no time; under a real
one all packets of a watched direction take the time of this process.
"""

import json
import os
import select
import socket
import struct
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from types import TracebackType

from rogue.agent.node.capture import attach_filter, direct_filter
from rogue.agent.node.fields import AgentError, ErrorKind
from rogue.agent.node.packet_events import Matcher, PacketEvent, Struck
from rogue.agent.node.processes import ForkedProcess, end_process
from rogue.agent.node.roce_frames import ROCE_PORT

_ALL_PROTOCOLS = 0x0003
_SOL_PACKET, _IGNORE_OUTGOING = 263, 23
_RECEIVE_BUFFER_FORCE, _TIMESTAMP_NS = 33, 35
_RECEIVE_BUFFER_BYTES = 64 << 20
_FRAME_BYTES_MAX = 1 << 16
_SECOND_NS = 1_000_000_000
_PRIORITY = 9
"""Of the filters; lower ones are for losses."""
_READY = b"ready\n"
_GRACE_S = 4.0
"""For the commands that return packets to the bridge; the supervisor waits a little longer."""
_ONLY_SENT_TO = "learning off flood off mcast_flood off bcast_flood off"
"""The bridge sends nothing into the pair, and keeps looking for hosts where they are."""


class Detour:
    """Takes packets to some addresses out of an interface, and puts others into its bridge."""

    def __init__(self, number: int, interface: str, bridge: str, addresses: Iterable[str]) -> None:
        self._name = f"event{number}"
        self._interface, self._bridge = interface, bridge
        self._addresses = sorted(set(addresses), key=IPv4Address)
        self._doors: dict[int, socket.socket] = {}
        """Sockets to send packets into the bridge, by delay."""
        self._stack = ExitStack()

    def open(self, delays_ns: Iterable[int]) -> None:
        """Copy what comes in, and then have `tc` drop it; raises AgentError if a command fails."""
        for number, delay_ns in enumerate({0, *delays_ns}):
            self._doors[delay_ns] = self._door(f"{self._name}d{number}", delay_ns)
        self.tap = self._stack.enter_context(
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # receives nothing before it is bound
        )
        attach_filter(self.tap, direct_filter(map(int, map(IPv4Address, self._addresses))))
        self.tap.setsockopt(_SOL_PACKET, _IGNORE_OUTGOING, 1)
        self.tap.setsockopt(socket.SOL_SOCKET, _TIMESTAMP_NS, 1)
        self.tap.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, _RECEIVE_BUFFER_BYTES)
        self.tap.bind((self._interface, _ALL_PROTOCOLS))
        _run("tc", f"qdisc add dev {self._interface} clsact")
        self._stack.callback(_try, "tc", f"qdisc del dev {self._interface} clsact")
        for address in self._addresses:
            matched = f"match ip protocol 17 0xff match ip dport {ROCE_PORT} 0xffff match ip dst {address}/32"
            place = f"dev {self._interface} ingress protocol ip prio {_PRIORITY}"
            _run("tc", f"filter add {place} u32 {matched} action drop")

    def _door(self, name: str, delay_ns: int) -> socket.socket:
        """Return a socket that sends into the bridge after a delay."""
        mtu = Path(f"/sys/class/net/{self._interface}/mtu").read_text().strip()
        _try("ip", f"link del {name}")  # of a process that was killed
        _run("ip", f"link add {name} mtu {mtu} type veth peer name {name}b mtu {mtu}")
        self._stack.callback(_try, "ip", f"link del {name}")
        _run("ip", f"link set {name}b master {self._bridge} up")
        _run("ip", f"link set {name}b type bridge_slave {_ONLY_SENT_TO}")
        if delay_ns:
            _run("tc", f"qdisc add dev {name} root netem limit 100000 delay {delay_ns / 1000:.3f}us")
        _run("ip", f"link set {name} up")
        door = self._stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
        door.bind((name, 0))
        return door

    def send(self, packet: bytes, delay_ns: int) -> None:
        """Send a packet into the bridge."""
        self._doors[delay_ns].send(packet)

    def receive(self) -> tuple[bytes, int] | None:
        """Return a packet, and when it came on the clock of real time; None if the interface went down."""
        try:
            packet, ancillary, _, _ = self.tap.recvmsg(_FRAME_BYTES_MAX, 64)
        except OSError:
            return None
        seconds, ns = struct.unpack("@qq", ancillary[0][2])
        return packet, seconds * _SECOND_NS + ns

    def close(self) -> None:
        """Return the forwarding of all packets to the bridge."""
        self._stack.close()


def relay(events: Sequence[PacketEvent], source: int, sink: int) -> int:
    """Carry out events until the end of `source`; write `ready`, and in the end what happened, to `sink`."""
    with suppress(OSError):  # as another user than root
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    matcher = Matcher(events)
    with ExitStack() as stack:
        detours: dict[int, Detour] = {}
        for number, interface in enumerate(sorted({each.interface for each in events})):
            own = [each for each in events if each.interface == interface]
            detour = Detour(number, interface, own[0].bridge, [each.address for each in own])
            stack.callback(detour.close)
            detour.open(_delays_ns(own))
            detours[detour.tap.fileno()] = detour
        os.write(sink, _READY)
        while True:
            ready, _, _ = select.select([source, *detours], (), ())
            if source in ready:
                break
            for descriptor in ready:
                _pass_on(detours[descriptor], matcher)
    os.write(sink, json.dumps(matcher.struck).encode() + b"\n")
    return 0


def _delays_ns(events: Sequence[PacketEvent]) -> set[int]:
    """Return all delays that packets may get."""
    return {event.amount for event in events if event.action == "delay"}


def _pass_on(detour: Detour, matcher: Matcher) -> None:
    received = detour.receive()
    if received is None:
        return
    for outcome in matcher.outcomes(*received):
        for _ in range(outcome.copies):
            detour.send(outcome.packet, outcome.delay_ns)


def _run(program: str, arguments: str) -> None:
    command = [program, *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AgentError(ErrorKind.CONFIGURATION, f"{' '.join(command)}: {done.stderr.strip()}")


def _try(program: str, arguments: str) -> None:
    with suppress(AgentError):
        _run(program, arguments)


class Relay:
    """A process that carries out packet events; a context manager that waits until it is ready."""

    def __init__(self, events: Sequence[PacketEvent], log: Path) -> None:
        """`events`: with addresses; `log`: of the process."""
        self._log = log
        self._process = ForkedProcess(partial(relay, events), log)

    def __enter__(self) -> "Relay":
        if self._process.stdout.read(len(_READY)) != _READY:
            self._process.wait()
            raise self._failure()
        return self

    def _failure(self) -> AgentError:
        """Return the error with the last words of the process."""
        said = self._log.read_text(errors="replace").strip().splitlines()
        return AgentError(ErrorKind.CONFIGURATION, f"packet_event: {said[-1] if said else 'no reason given'}")

    def close(self) -> list[Struck]:
        """End the process; return the events that happened."""
        self._process.stdin.close()
        text = b"".join(iter(partial(self._process.stdout.read, 1 << 16), b""))
        if self._process.wait() != 0:
            raise self._failure()
        return [Struck(*each) for each in json.loads(text or b"[]")]

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """End the process, also after a failure; the bridge then forwards all packets itself again."""
        end_process(self._process, _GRACE_S)
