"""How each machine of a testbed is doing."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from virtual.errors import VirtualTestbedError
from virtual.ssh import Login, connect
from virtual.standing import processes
from virtual.standing.lifecycle import StandingTestbed

_ANSWER_TIMEOUT_S: Final = 15.0
_QUESTION: Final = "cat /proc/uptime /proc/meminfo"


@dataclass(frozen=True, slots=True)
class MachineState:
    """One machine: whether it has power, whether SSH answers, and what it says of itself."""

    machine: str
    pid: int | None
    """Process of this host; None without power."""
    host_memory_bytes: int
    """What the process occupies here."""
    problem: str
    """Why SSH does not answer; empty if it does."""
    uptime_s: float | None
    free_memory_bytes: int | None
    """What the machine could still give to its programs."""

    @property
    def is_well(self) -> bool:
        """Whether it has power and answers."""
        return self.pid is not None and not self.problem


def machine_states(testbed: StandingTestbed) -> Sequence[MachineState]:
    """Ask every machine at once; one that does not answer costs the others no time."""
    pids = processes.find(testbed.directory)
    with ThreadPoolExecutor(len(testbed.logins)) as pool:
        return list(pool.map(lambda login: _ask(login, pids.get(login.machine)), testbed.logins.values()))


def _ask(login: Login, pid: int | None) -> MachineState:
    if pid is None:
        return MachineState(login.machine, None, 0, "it has no power", None, None)
    resident_bytes = processes.resident_bytes(pid)
    try:
        with connect(replace(login, timeout_s=_ANSWER_TIMEOUT_S)) as connection:
            uptime_s, free_bytes = parse_answer(connection.run(_QUESTION))
    except VirtualTestbedError as error:
        return MachineState(login.machine, pid, resident_bytes, str(error), None, None)
    return MachineState(login.machine, pid, resident_bytes, "", uptime_s, free_bytes)


def parse_answer(text: str) -> tuple[float, int]:
    """Read uptime in seconds and available memory in bytes out of /proc/uptime and /proc/meminfo."""
    first, *rest = text.splitlines()
    (available,) = (line.split()[1] for line in rest if line.startswith("MemAvailable:"))
    return float(first.split()[0]), int(available) * 1024
