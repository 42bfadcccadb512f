"""Bring testbeds up that outlive a command, find them, report their state, and take them down."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rogue.remote.connection import Connections
from rogue.remote.errors import NodeError
from rogue.remote.login import Login
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator, Console, assemble, logins
from rogue.virtual.machines.machine_plan import machines_of
from rogue.virtual.network import VirtualNetwork
from rogue.virtual.persistent import processes
from rogue.virtual.persistent.directory import (
    Record,
    StateDirectory,
    inventory_text,
    read_record,
    state_directory,
    write_record,
)

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PersistentTestbed:
    """A testbed that was brought up; some of its machines may have lost power since."""

    name: str
    directory: Path
    network: VirtualNetwork
    logins: Mapping[str, Login]
    inventory: Path


def find(name: str) -> PersistentTestbed:
    """Return the testbed ``name``; raises VirtualTestbedError if it is not up."""
    state = state_directory(name)
    record = read_record(state.record)
    if record is None:
        raise VirtualTestbedError(f"testbed {name} is not up; `rogue testbed up --name {name}` brings it up")
    return _testbed(state, record)


def up(
    name: str, network: VirtualNetwork, image: Image, accelerator: Accelerator, progress: Progress
) -> PersistentTestbed:
    """Return the testbed ``name``, after bringing it up if it is not.

    Remains of an earlier `up` are removed first. After an error or Ctrl-C nothing is left.
    Raises VirtualTestbedError if it is up with another network.
    """
    state = state_directory(name)
    with state.locked(progress):
        record = read_record(state.record)
        if record is not None and _has_all_machines(state, record):
            return _already_up(state, record, network, progress)
        if state.path.exists() or processes.find(state.path):
            progress(f"testbed {name}: cleaning what is left of an earlier one")
            _clean(state)
        try:
            return _testbed(state, _start(state, network, image, accelerator, progress))
        except BaseException:
            progress(f"testbed {name}: taking it down again")
            _clean(state)
            raise


def down(name: str, progress: Progress) -> bool:
    """Switch every machine off and delete the testbed's files; False if there was nothing of it."""
    state = state_directory(name)
    with state.locked(progress):
        had_something = state.path.exists() or bool(processes.find(state.path))
        _clean(state)
    return had_something


def _clean(state: StateDirectory) -> None:
    processes.end(state.path)
    state.remove()


def _already_up(
    state: StateDirectory, record: Record, network: VirtualNetwork, progress: Progress
) -> PersistentTestbed:
    if record.network != network:
        raise VirtualTestbedError(
            f"testbed {state.name} is up with another network (hosts {', '.join(record.network.hosts)}; "
            f"switches {', '.join(record.network.switches)}); take it down, or give this one another --name"
        )
    progress(f"testbed {state.name}: already up")
    return _testbed(state, record)


def _has_all_machines(state: StateDirectory, record: Record) -> bool:
    return set(processes.find(state.path)) == set(record.ssh_ports)


def _start(
    state: StateDirectory, network: VirtualNetwork, image: Image, accelerator: Accelerator, progress: Progress
) -> Record:
    """Start all machines at once, wait until each replies over SSH, and write the record."""
    started_s = time.monotonic()
    state.make()
    assembly = assemble(machines_of(network), image, accelerator, state.path)
    for machine, command in assembly.commands.items():
        processes.start(state.path, machine, command)
    machines = list(assembly.commands)
    progress(f"testbed {state.name}: {len(machines)} machines are booting ({accelerator.value})")
    _wait_until_ready(state.path, machines, started_s + accelerator.boot_timeout_s, progress)
    record = Record(network, accelerator, assembly.ssh_ports)
    _log_in(list(_testbed(state, record).logins.values()))
    state.inventory.write_text(inventory_text(state.name, state.path, network, assembly.ssh_ports))
    write_record(state.record, record)
    progress(f"testbed {state.name}: up after {time.monotonic() - started_s:.1f} s")
    return record


def _wait_until_ready(
    directory: Path, machines: Sequence[str], deadline_s: float, progress: Progress
) -> None:
    for number, machine in enumerate(machines, start=1):
        has_power = partial(_has_power, directory, machine)
        Console(machine, directory).wait_for_line("ready", deadline_s, has_power)
        progress(f"  {number} of {len(machines)}: {machine}")


def _has_power(directory: Path, machine: str) -> bool:
    return machine in processes.find(directory)


def _log_in(logins: Sequence[Login]) -> None:
    """Log in to every machine at once; its host key proves that it is the one that was started."""

    with Connections.to(logins) as machines:
        for reply in machines.each(lambda machine: machine.run("true")).values():
            if isinstance(reply, NodeError):
                raise reply


def _testbed(state: StateDirectory, record: Record) -> PersistentTestbed:
    return PersistentTestbed(
        state.name,
        state.path,
        record.network,
        logins(state.path, record.ssh_ports),
        state.inventory,
    )


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
    """Return the state of every machine; the limit for each reply is 15 s."""
    pids = processes.find(testbed.directory)
    running = [login for login in testbed.logins.values() if login.node in pids]
    with Connections.to(running, _REPLY_LIMIT_S) as machines:
        replies = machines.each(lambda machine: machine.run(_REQUEST, limit_s=_REPLY_LIMIT_S))
    return [_state(name, pids.get(name), replies.get(name)) for name in testbed.logins]


def _state(machine: str, pid: int | None, reply: str | NodeError | None) -> MachineState:
    if pid is None or reply is None:
        return MachineState(machine, None, 0, "it has no power", None, None)
    resident_bytes = processes.resident_set_bytes(pid)
    if isinstance(reply, NodeError):
        return MachineState(machine, pid, resident_bytes, str(reply), None, None)
    return MachineState(machine, pid, resident_bytes, "", *parse_reply(reply))


def parse_reply(text: str) -> tuple[float, int]:
    """Return uptime in seconds and available memory in bytes from /proc/uptime and /proc/meminfo."""
    first, *rest = text.splitlines()
    (available,) = (line.split()[1] for line in rest if line.startswith("MemAvailable:"))
    return float(first.split()[0]), int(available) * 1024
