"""How each machine of a testbed is doing."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.remote.shell import connect
from rogue.virtual.standing import processes
from rogue.virtual.standing.lifecycle import StandingTestbed

_REPLY_LIMIT_S: Final = 15.0
_REQUEST: Final = "cat /proc/uptime /proc/meminfo"


@dataclass(frozen=True, slots=True)
class MachineState:
    """One machine: whether it has power, whether SSH replies, and what it says of itself."""

    machine: str
    pid: int | None
    """Process of this host; None without power."""
    host_memory_bytes: int
    """What the process occupies here."""
    problem: str
    """Why SSH does not reply; empty if it does."""
    uptime_s: float | None
    free_memory_bytes: int | None
    """What the machine could still give to its programs."""

    @property
    def is_well(self) -> bool:
        """Whether it has power and replies."""
        return self.pid is not None and not self.problem


def machine_states(testbed: StandingTestbed) -> Sequence[MachineState]:
    """Ask every machine at once; one that does not reply costs the others no time."""
    pids = processes.find(testbed.directory)
    with ThreadPoolExecutor(len(testbed.logins)) as pool:
        return list(pool.map(lambda login: _ask(login, pids.get(login.node)), testbed.logins.values()))


def _ask(login: Login, pid: int | None) -> MachineState:
    if pid is None:
        return MachineState(login.node, None, 0, "it has no power", None, None)
    resident_bytes = processes.resident_bytes(pid)
    try:
        with connect(login, limit_s=_REPLY_LIMIT_S) as shell:
            uptime_s, free_bytes = parse_reply(shell.run(_REQUEST, limit_s=_REPLY_LIMIT_S))
    except NodeError as error:
        return MachineState(login.node, pid, resident_bytes, str(error), None, None)
    return MachineState(login.node, pid, resident_bytes, "", uptime_s, free_bytes)


def parse_reply(text: str) -> tuple[float, int]:
    """Read uptime in seconds and available memory in bytes out of /proc/uptime and /proc/meminfo."""
    first, *rest = text.splitlines()
    (available,) = (line.split()[1] for line in rest if line.startswith("MemAvailable:"))
    return float(first.split()[0]), int(available) * 1024
