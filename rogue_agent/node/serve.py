"""Puts the supervisor on the standard streams of its process, and data processes beside it."""

import fcntl
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from rogue.agent.drivers.poller import Poller
from rogue.agent.drivers.recording import Spool
from rogue.agent.drivers.verbs import clock
from rogue.agent.drivers.verbs.discovery import SYSFS, find_port
from rogue.agent.drivers.verbs.pyverbs import VerbsUnavailable, load
from rogue.agent.node.data_process import DataProcess
from rogue.agent.node.end import NodeContext
from rogue.agent.node.forked import ForkedProcess
from rogue.agent.node.messages import Prepare
from rogue.agent.node.open_end import open_end
from rogue.agent.node.plugins import import_plugins
from rogue.agent.node.supervisor import Supervisor
from rogue.agent.node.turn_keeper import Keepers, keep_turns, place_of
from rogue.agent.node.wire import listener_at

SPOOL = Path("/var/lib/rogue/spool")
"""Provisioning makes room for samples there."""
_PREFIX = "rogue-agent-"
_UNFINISHED_PREFIX = ".rogue-agent-"
_READABLE_BY_GROUP = 0o2750
_STDIN, _STDOUT, _STDERR = 0, 1, 2
Work = Callable[[str, Path, int, int], int]
Keep = Callable[[Prepare, socket.socket, int], int]


def own_streams() -> tuple[int, int]:
    """Take the standard streams for the conversation; libraries that print reach standard error instead."""
    source, sink = os.dup(_STDIN), os.dup(_STDOUT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    os.dup2(_STDERR, _STDOUT)
    return source, sink


def work(role: str, directory: Path, source: int, sink: int) -> int:
    """Serve one role over two descriptors; whatever it writes beside its replies goes to `directory`."""
    workplace = NodeContext(
        load, SYSFS, Spool(directory, role), Poller(clock.host_ns), clock.host_ns, clock.nic_ns
    )
    return DataProcess(source, sink, workplace, open_end).serve()


def keep(request: Prepare, listener: socket.socket, source: int) -> int:
    """Keep the turns at a card's limiters."""
    return keep_turns(request, find_port, listener, Poller(clock.host_ns), source)


def supervise(work_on: Work = work) -> int:
    """Serve one conversation; each role is worked on in a process of its own.

    pyverbs is imported here if there is any, but nothing of it is used: data processes are forks.
    """
    with own_directory() as directory:
        return _supervise(work_on, directory)


@contextmanager
def own_directory() -> Iterator[Path]:
    """A directory for one conversation. Those whose processes were all killed are removed first.

    Its owner holds a lock on it from before it has the name of one. Nothing is waited for that another user
    of the node could hold.
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
    """Where sessions have their directories; if nothing was provisioned, beside other temporary files."""
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
    """Lock a directory; OSError if `how` says not to wait and another process has it."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(descriptor)


def _supervise(work_on: Work, directory: Path) -> int:
    leave_a_watcher(directory)
    source, sink = own_streams()
    import_pyverbs()
    import_plugins()
    keepers = Keepers(partial(launch_keeper, keep, directory))
    return Supervisor(source, sink, partial(launch, work_on, directory), directory, keepers=keepers).serve()


def import_pyverbs() -> None:
    """Import pyverbs before forking, if it is there; a role that needs it reports if it is missing."""
    with suppress(VerbsUnavailable):
        load()


def launch(work_on: Work, directory: Path, role: str, log: Path) -> ForkedProcess:
    """Start the data process of a role."""
    return ForkedProcess(partial(work_on, role, directory), log)


def launch_keeper(keep_for: Keep, directory: Path, request: Prepare) -> ForkedProcess:
    """Start the keeper of a card, at whose socket flows may knock from now on."""
    place = place_of(directory, request.address)
    with listener_at(place) as listener:
        return ForkedProcess(
            lambda source, _sink: keep_for(request, listener, source),
            place.with_name(f"{place.name}.log"),
            [listener.fileno()],
        )


def leave_a_watcher(directory: Path) -> None:
    """Fork a process that waits until this one is gone, however it went, and then removes the directory.

    It notices by the end of a pipe whose other end only this process holds.
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
