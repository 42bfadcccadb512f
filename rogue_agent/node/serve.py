"""Run the supervisor on the standard streams of its process, and fork data processes and limiter servers."""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rogue.agent.core.clocks import HostNs, NicNs
from rogue.agent.core.plugins import import_plugins
from rogue.agent.drivers.poller import ExactPoller, Poller, VirtualClock
from rogue.agent.drivers.recording import Spool
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.discovery import SYSFS, PortAddress, find_port, roce_ports
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable, load
from rogue.agent.node.capabilities import capabilities
from rogue.agent.node.data_process import DataProcess, open_end
from rogue.agent.node.limiter_server import LimiterServers, serve_limiters, socket_of
from rogue.agent.node.messages import SWITCH_ROLE, Capabilities, Prepare
from rogue.agent.node.processes import ForkedProcess, listener_at
from rogue.agent.node.role import NodeContext
from rogue.agent.node.supervisor import Supervisor
from rogue.agent.node.switch_process import SwitchProcess

SPOOL = Path("/var/lib/rogue/spool")
"""Directory for samples that provisioning creates."""
_PREFIX = "rogue-agent-"
_UNFINISHED_PREFIX = ".rogue-agent-"
_READABLE_BY_GROUP = 0o2750
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_PR_SET_TIMERSLACK = 29
_LEAST_SLACK_NS = 1
Work = Callable[[str, Path, int, int], int]
ServeLimiters = Callable[[Prepare, socket.socket, int], int]


@dataclass(frozen=True)
class KnownNode:
    """Ports and capabilities of a kernel with a virtual clock, which all its agents share."""

    ports: Sequence[PortAddress]
    capabilities: Capabilities

    @classmethod
    def found(cls) -> "KnownNode":
        """Inspect this node, whose network has just been built, so that limiters need no search."""
        ports = roce_ports(is_fresh=True)
        return cls(ports, capabilities(known=ports, is_built=True))


def be_exact() -> None:
    """Let sleeps of this process and its forks end on time instead of up to 50 us later.

    Source: prctl(2), PR_SET_TIMERSLACK.
    """
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, _LEAST_SLACK_NS, 0, 0, 0)


def own_streams() -> tuple[int, int]:
    """Duplicate the standard streams for the conversation; what libraries print goes to standard error."""
    source, sink = os.dup(_STDIN), os.dup(_STDOUT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    os.dup2(_STDERR, _STDOUT)
    return source, sink


def _clocks(known: KnownNode | None) -> tuple[Poller, Callable[[], HostNs], Callable[[], NicNs]]:
    """Return a poller, the clock of timers and the clock of posts; virtual ones on a known node."""
    if known is None:
        return Poller(clock.host_ns), clock.host_ns, clock.nic_ns
    virtual = VirtualClock()
    return ExactPoller(virtual), virtual.host_ns, lambda: NicNs(virtual.now_ns)


def work(known: KnownNode | None, role: str, directory: Path, source: int, sink: int) -> int:
    """Serve one role over two descriptors, with its files in `directory`; return the exit code."""
    ports = () if known is None else known.ports
    context = NodeContext(load, SYSFS, Spool(directory, role), *_clocks(known), ports)
    if role == SWITCH_ROLE:
        return SwitchProcess(source, sink, context).serve()
    return DataProcess(source, sink, context, open_end).serve()


def lend(known: KnownNode | None, request: Prepare, listener: socket.socket, source: int) -> int:
    """Serve the shared limiters of a card; return the exit code."""
    find = partial(find_port, known=() if known is None else known.ports)
    return serve_limiters(request, find, listener, _clocks(known)[0], source)


def supervise(work_on: Work | None = None) -> int:
    """Serve one conversation over the standard streams, each role in its own process.

    pyverbs is imported, if available, but not used here: data processes are forks.
    """
    with own_directory() as directory:
        remove_when_gone(directory)
        source, sink = own_streams()
        import_pyverbs()
        import_plugins()
        servers = LimiterServers(partial(launch_server, partial(lend, None), directory))
        start = partial(launch, work_on or partial(work, None), directory)
        return Supervisor(source, sink, start, directory, servers=servers).serve()


def supervise_in_fork(known: KnownNode, source: int, sink: int) -> int:
    """Serve one conversation over two descriptors, in a process that has imported everything already."""
    with own_directory() as directory:
        start = partial(launch, partial(work, known), directory)
        servers = LimiterServers(partial(launch_server, partial(lend, known), directory))
        return Supervisor(
            source, sink, start, directory, look=lambda: known.capabilities, servers=servers
        ).serve()


@contextmanager
def own_directory() -> Iterator[Path]:
    """Create a directory for one conversation, after removing those whose processes were all killed.

    The owner locks the directory before it gets its final name. No lock of another user is waited for.
    """
    place = spool_place()
    with ExitStack() as stack:
        for other in place.glob(f"{_PREFIX}*"):
            with suppress(OSError), _locked(other, fcntl.LOCK_NB):
                if other.lstat().st_uid == os.geteuid():
                    shutil.rmtree(other, ignore_errors=True)
        unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED_PREFIX, dir=place))
        stack.enter_context(_locked(unfinished))
        directory = unfinished.rename(place / unfinished.name.lstrip("."))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        let_caller_read(directory)
        yield directory


def spool_place() -> Path:
    """Return the parent of conversations' directories: that for temporary files if none was provisioned."""
    if os.access(SPOOL, os.W_OK | os.X_OK):
        return SPOOL
    place = Path(tempfile.gettempdir())
    sys.stderr.write(f"{SPOOL} cannot be written to: samples go to {place}\n")
    return place


def let_caller_read(directory: Path) -> None:
    """Let only the user who started the agent through sudo read the files that are fetched later."""
    group = os.environ.get("SUDO_GID", "")
    if group.isdecimal():
        os.chown(directory, -1, int(group))
        directory.chmod(_READABLE_BY_GROUP)


@contextmanager
def _locked(directory: Path, how: int = 0) -> Iterator[None]:
    """Lock a directory; raises OSError if `how` is LOCK_NB and another process has the lock."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(descriptor)


def import_pyverbs() -> None:
    """Import pyverbs before forking, if available; a role that needs it reports if it is missing."""
    with suppress(VerbsUnavailable):
        load()


def launch(work_on: Work, directory: Path, role: str, log: Path) -> ForkedProcess:
    """Start the data process of a role."""
    return ForkedProcess(partial(work_on, role, directory), log)


def launch_server(serve: ServeLimiters, directory: Path, request: Prepare) -> ForkedProcess:
    """Start the limiter server of a card; flows can connect to its socket from now on."""
    place = socket_of(directory, request.address)
    with listener_at(place) as listener:
        return ForkedProcess(
            lambda source, _sink: serve(request, listener, source),
            place.with_name(f"{place.name}.log"),
            [listener.fileno()],
        )


def remove_when_gone(directory: Path) -> None:
    """Fork a process that removes the directory when this one has ended, even if it was killed.

    It waits for the end of a pipe whose other end only this process holds.
    """
    reader, writer = os.pipe()
    if os.fork() != 0:
        os.close(reader)
        return
    try:
        os.setsid()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.close(writer)
        for stream in (_STDIN, _STDOUT, _STDERR):
            os.close(stream)
        os.read(reader, 1)
        shutil.rmtree(directory, ignore_errors=True)
    finally:
        os._exit(0)
