"""A set of running machines: up together, down together, nothing left behind."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from virtual.image.cache import Image
from virtual.machines import identity, ports, qemu
from virtual.machines.plan import MachinePlan
from virtual.machines.process import MachineProcess
from virtual.ssh import Login

_BOOT_TIMEOUT_S = {qemu.Accelerator.KVM: 60.0, qemu.Accelerator.TCG: 240.0}
_SSH_TIMEOUT_S = {qemu.Accelerator.KVM: 20.0, qemu.Accelerator.TCG: 120.0}


class RunningMachines:
    """Machines that are up, and how to log in to them."""

    def __init__(self, logins: dict[str, Login], processes: dict[str, MachineProcess]) -> None:
        self.logins = logins
        self.processes = processes


@contextmanager
def running(
    plans: Sequence[MachinePlan], image: Image, accelerator: qemu.Accelerator, progress: Callable[[str], None]
) -> Iterator[RunningMachines]:
    """Boot all machines at once and hand them over when each answers; switch them off on the way out."""
    with ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="rogue-testbed-"))
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        names = [plan.name for plan in plans]
        keys = identity.generate_keys(names)
        ssh_ports = dict(zip(names, ports.reserve(len(plans)), strict=True))
        identity.write_client_files(directory, keys, ssh_ports)
        started_s = time.monotonic()
        processes: dict[str, MachineProcess] = {}
        for plan in plans:
            initrd = directory / f"{plan.name}.initrd"
            initrd.write_bytes(image.initrd.read_bytes() + identity.seed(plan, keys))
            boot = qemu.Boot(image.kernel, initrd, image.root)
            command = qemu.machine_command(plan, boot, accelerator, directory, ssh_ports[plan.name])
            processes[plan.name] = MachineProcess(plan.name, command, directory / f"{plan.name}.console")
            stack.callback(processes[plan.name].end)
        for process in processes.values():
            process.wait_until_it_says("ready", started_s + _BOOT_TIMEOUT_S[accelerator])
        progress(f"machines: {', '.join(names)} up after {time.monotonic() - started_s:.1f} s")
        logins = {
            name: Login(
                name,
                ssh_ports[name],
                directory / "id_ecdsa",
                directory / "known_hosts",
                _SSH_TIMEOUT_S[accelerator],
            )
            for name in names
        }
        yield RunningMachines(logins, processes)
