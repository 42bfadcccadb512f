"""Report the state of each machine of a testbed that is up: power, SSH, uptime and memory."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from rogue.remote.connection import connect
from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.virtual.persistent import processes
from rogue.virtual.persistent.lifecycle import PersistentTestbed

_REPLY_LIMIT_S: Final = 15.0
_REQUEST: Final = "cat /proc/uptime /proc/meminfo"


@dataclass(frozen=True, slots=True)
class MachineState:
    """Power, SSH and memory of one machine."""

    machine: str
    pid: int | None
    """Its QEMU process on this computer; None without power."""
    host_memory_bytes: int
    """Memory of that process."""
    problem: str
    """Why SSH does not reply; empty if it does."""
    uptime_s: float | None
    free_memory_bytes: int | None
    """Memory that programs inside the machine can still get."""

    @property
    def is_well(self) -> bool:
        """True if it has power and replies."""
        return self.pid is not None and not self.problem


def machine_states(testbed: PersistentTestbed) -> Sequence[MachineState]:
    """Return the state of every machine; all are asked at once, each within 15 s."""
    pids = processes.find(testbed.directory)
    with ThreadPoolExecutor(len(testbed.logins)) as pool:
        return list(pool.map(lambda login: _ask(login, pids.get(login.node)), testbed.logins.values()))


def _ask(login: Login, pid: int | None) -> MachineState:
    if pid is None:
        return MachineState(login.node, None, 0, "it has no power", None, None)
    resident_bytes = processes.resident_set_bytes(pid)
    try:
        with connect(login, limit_s=_REPLY_LIMIT_S) as shell:
            uptime_s, free_bytes = parse_reply(shell.run(_REQUEST, limit_s=_REPLY_LIMIT_S))
    except NodeError as error:
        return MachineState(login.node, pid, resident_bytes, str(error), None, None)
    return MachineState(login.node, pid, resident_bytes, "", uptime_s, free_bytes)


def parse_reply(text: str) -> tuple[float, int]:
    """Return uptime in seconds and available memory in bytes from /proc/uptime and /proc/meminfo."""
    first, *rest = text.splitlines()
    (available,) = (line.split()[1] for line in rest if line.startswith("MemAvailable:"))
    return float(first.split()[0]), int(available) * 1024
