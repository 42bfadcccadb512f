"""Agents in a kernel whose clock is virtual."""

import ctypes
import select
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rogue.agent.core.clocks import NicNs
from rogue.agent.drivers.poller import ExactPoller, VirtualClock
from rogue.agent.drivers.recording import Spool
from rogue.agent.drivers.verbs.discovery import SYSFS, PortAddress, find_port, roce_ports
from rogue.agent.drivers.verbs.pyverbs import load
from rogue.agent.node.capabilities import capabilities
from rogue.agent.node.data_process import DataProcess
from rogue.agent.node.end import NodeContext
from rogue.agent.node.messages import Capabilities, Prepare
from rogue.agent.node.open_end import open_end
from rogue.agent.node.queue_samples import QueueReading
from rogue.agent.node.serve import launch, launch_keeper, own_directory
from rogue.agent.node.supervisor import Supervisor
from rogue.agent.node.turn_keeper import Keepers, keep_turns

_ALL_PROTOCOLS = 0x0003
"""Source: Linux, include/uapi/linux/if_ether.h, ETH_P_ALL."""
_NS_PER_S = 1_000_000_000


class Stillness:
    """Tells whether the ports have been found the same for long, in what waits and what they have sent."""

    def __init__(self, after_ns: int) -> None:
        """`after_ns`: how long nothing must have moved."""
        self._after_ns = after_ns
        self._readings: Mapping[str, QueueReading] | None = None
        self._since_ns = 0

    def is_reached(self, readings: Mapping[str, QueueReading], now_ns: int) -> bool:
        """Whether that is so, by one more reading of all ports."""
        if readings != self._readings:
            self._readings, self._since_ns = readings, now_ns
        return now_ns - self._since_ns >= self._after_ns


def sleep_until_motion(descriptors: Sequence[int], limit_ns: int) -> bool:
    """Sleep until a packet moves on any interface, a descriptor is readable or the time is over.

    False if this process may not see packets: who cannot be woken must not sleep. What moves first is seen
    at its own instant, and a process that wakes then reads the clock, which takes others a microsecond.
    """
    with ExitStack() as stack, suppress(PermissionError):
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PROTOCOLS))
        stack.enter_context(tap)
        select.select([tap.fileno(), *descriptors], (), (), limit_ns / _NS_PER_S)
        return True
    return False


_PR_SET_TIMERSLACK = 29
_LEAST_SLACK_NS = 1


@dataclass(frozen=True)
class KnownNode:
    """What was found once, for all the agents that are forked on it."""

    ports: Sequence[PortAddress]
    capabilities: Capabilities

    @classmethod
    def found(cls) -> "KnownNode":
        """Look at this node, whose network was built a moment ago: its limiters are known to who built it."""
        ports = roce_ports(is_fresh=True)
        return cls(ports, capabilities(known=ports, has_limiters=False))


def be_exact() -> None:
    """Have this process, and those that it forks, woken when they asked for it, not up to 50 us later.

    Source: prctl(2), PR_SET_TIMERSLACK.
    """
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, _LEAST_SLACK_NS, 0, 0, 0)


def supervise_in_fork(known: KnownNode, source: int, sink: int) -> int:
    """Serve one conversation over two descriptors, in a process that has imported everything already."""
    with own_directory() as directory:
        start = partial(launch, partial(work, known.ports), directory)
        keepers = Keepers(partial(launch_keeper, partial(keep, known.ports), directory))
        return Supervisor(
            source, sink, start, directory, look=lambda: known.capabilities, keepers=keepers
        ).serve()


def work(ports: Sequence[PortAddress], role: str, directory: Path, source: int, sink: int) -> int:
    """Serve one role over two descriptors; whatever it writes beside its replies goes to `directory`."""
    clock = VirtualClock()
    workplace = NodeContext(
        load,
        SYSFS,
        Spool(directory, role),
        ExactPoller(clock),
        clock.host_ns,
        lambda: NicNs(clock.now_ns),
        ports,
    )
    return DataProcess(source, sink, workplace, open_end).serve()


def keep(ports: Sequence[PortAddress], request: Prepare, listener: socket.socket, source: int) -> int:
    """Keep the turns at a card's limiters."""
    find = partial(find_port, known=ports)
    return keep_turns(request, find, listener, ExactPoller(VirtualClock()), source)
