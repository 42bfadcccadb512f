"""Puts machines together in a directory: keys, initial RAM disks, ports, command lines, ways to log in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rogue.remote.login import Login
from rogue.virtual.image.cache import Image
from rogue.virtual.machines import identity, tcp_ports
from rogue.virtual.machines.plan import MachinePlan
from rogue.virtual.machines.qemu import Accelerator, Boot, machine_command


@dataclass(frozen=True, slots=True)
class Assembly:
    """Machines that can be started: each one's command, to be run in the directory, and its login."""

    commands: dict[str, list[str]]
    ssh_ports: dict[str, int]


def assemble(
    plans: Sequence[MachinePlan], image: Image, accelerator: Accelerator, directory: Path
) -> Assembly:
    """Write every file that the machines and their clients need; start nothing."""
    names = [plan.name for plan in plans]
    keys = identity.generate_keys(names)
    ssh_ports = dict(zip(names, tcp_ports.reserve(len(plans)), strict=True))
    identity.write_client_files(directory, keys, ssh_ports)
    commands = {}
    for plan in plans:
        initrd = Path(f"{plan.name}.initrd")
        (directory / initrd).write_bytes(image.initrd.read_bytes() + identity.seed(plan, keys))
        boot = Boot(image.kernel, initrd, image.root)
        commands[plan.name] = machine_command(plan, boot, accelerator, ssh_ports[plan.name])
    return Assembly(commands, ssh_ports)


def logins(directory: Path, ssh_ports: dict[str, int]) -> dict[str, Login]:
    """How to log in to each machine with the files in ``directory``."""
    key_file, known_hosts = directory / identity.CLIENT_KEY, directory / identity.KNOWN_HOSTS
    return {
        name: Login(name, identity.LOOPBACK, port, identity.USER, (key_file,), (known_hosts,))
        for name, port in ssh_ports.items()
    }
