"""A set of machines that live and die with this process: up together, down together, nothing left behind."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rogue.remote.login import Login
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator, MachineProcess, assemble, logins
from rogue.virtual.machines.machine_plan import Link, MachinePlan
from rogue.virtual.network import PREFIX_LENGTH


def pair(names: Sequence[str] = ("h1", "h2")) -> tuple[MachinePlan, MachinePlan]:
    """Return two hosts with soft-RoCE whose NICs are joined by one cable, without a switch."""
    first, second = names
    return _joined(first, second, 1), _joined(second, first, 2)


def _joined(name: str, peer: str, number: int) -> MachinePlan:
    address = f"10.9.0.{number}/{PREFIX_LENGTH}"
    sockets = (f"{name}-{peer}.sock", f"{peer}-{name}.sock")
    return MachinePlan(name, (Link(*sockets, f"52:54:00:09:00:{number:02x}", address, soft_roce=True),))


class RunningMachines:
    """Running machines and their logins."""

    def __init__(self, logins: dict[str, Login], processes: dict[str, MachineProcess]) -> None:
        self.logins = logins
        self.processes = processes


@contextmanager
def running(
    plans: Sequence[MachinePlan], image: Image, accelerator: Accelerator, progress: Callable[[str], None]
) -> Iterator[RunningMachines]:
    """Boot all machines at once, yield them when each replies, and switch them off in the end."""
    with ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="rogue-testbed-"))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        assembly = assemble(plans, image, accelerator, directory)
        started_s = time.monotonic()
        processes: dict[str, MachineProcess] = {}
        for name, command in assembly.commands.items():
            processes[name] = MachineProcess(name, command, directory)
            stack.callback(processes[name].end)
        for process in processes.values():
            process.wait_for_line("ready", started_s + accelerator.boot_timeout_s)
        progress(f"machines: {', '.join(processes)} up after {time.monotonic() - started_s:.1f} s")
        yield RunningMachines(logins(directory, assembly.ssh_ports), processes)
