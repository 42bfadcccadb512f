"""Agents in a kernel whose clock is virtual: all hosts are one node, on which nothing changes any more."""

import ctypes
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rogue.agent.core.clocks import NicNs
from rogue.agent.drivers.exact_poller import ExactPoller, StandingClock
from rogue.agent.drivers.spool import Spool
from rogue.agent.drivers.verbs.discovery import SYSFS, PortAddress, find_port, roce_ports
from rogue.agent.drivers.verbs.pyverbs import load
from rogue.agent.node.capabilities import capabilities
from rogue.agent.node.data_process import DataProcess
from rogue.agent.node.end import Workplace
from rogue.agent.node.ends import open_end
from rogue.agent.node.keepers import Keepers
from rogue.agent.node.messages import Capabilities, Prepare
from rogue.agent.node.serve import launch, launch_keeper, own_directory
from rogue.agent.node.supervisor import Supervisor
from rogue.agent.node.turn_keeper import keep_turns

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
    clock = StandingClock()
    workplace = Workplace(
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
    return keep_turns(request, find, listener, ExactPoller(StandingClock()), source)
