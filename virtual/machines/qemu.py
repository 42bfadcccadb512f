"""The QEMU command line of one machine."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from rogue.virtual.machines.plan import Link, MachinePlan

PROGRAM = "qemu-system-x86_64"
_KERNEL_ARGUMENTS = (
    "console=ttyS0 panic=-1 mitigations=off nokaslr random.trust_cpu=on rcupdate.rcu_expedited=1 "
    "net.ifnames=0 quiet"
)


class Accelerator(Enum):
    """How the processor is emulated."""

    KVM = "kvm"
    TCG = "tcg"

    @property
    def arguments(self) -> list[str]:
        """One processor. TCG gets a small translation cache: the default one grows to 700 MB per machine.

        A second processor that could be plugged in makes TCG order memory accesses as the guest asks. For a
        machine that can have only one, it leaves the barriers of locked instructions out, although devices
        run in other threads: then a NIC now and then never hears that packets wait for it, and stays silent.
        """
        if self is Accelerator.KVM:
            return ["-accel", "kvm", "-cpu", "host", "-smp", "1"]
        return ["-accel", "tcg,tb-size=64", "-cpu", "max", "-smp", "1,maxcpus=2"]

    @property
    def boot_timeout_s(self) -> float:
        """How long a machine may take to come up on a busy host."""
        return 60.0 if self is Accelerator.KVM else 240.0


@dataclass(frozen=True, slots=True)
class Boot:
    """What a machine boots from."""

    kernel: Path
    initrd: Path
    root: Path | None = None
    extra_arguments: str = ""


def base_command(name: str, boot: Boot, accelerator: Accelerator, memory_mib: int) -> list[str]:
    """A machine with a processor, memory, a console that ends in a file, and a kernel: no devices yet.

    Console, initial RAM disk and sockets lie in QEMU's working directory, since a socket's path has 107
    characters at most.
    """
    return [
        PROGRAM,
        *("-M", "q35"),
        *accelerator.arguments,
        *("-m", str(memory_mib)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{name}.console"),
        *("-kernel", str(boot.kernel), "-initrd", str(boot.initrd)),
        *("-append", f"{_KERNEL_ARGUMENTS} {boot.extra_arguments}".strip()),
    ]


def machine_command(machine: MachinePlan, boot: Boot, accelerator: Accelerator, ssh_port: int) -> list[str]:
    """The whole machine: disk, management NIC on 127.0.0.1 only, experiment NICs on unix sockets."""
    assert boot.root is not None, "a whole machine has a disk"
    disk = f"file={escaped(boot.root)},format=raw,if=none,readonly=on,id=disk"
    command = base_command(machine.name, boot, accelerator, machine.memory_mib)
    command += ["-drive", disk, "-device", "virtio-blk-pci,drive=disk"]
    command += [
        *("-netdev", f"user,id=management,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:{ssh_port}-:22"),
        *("-device", "virtio-net-pci,netdev=management,romfile="),
    ]
    for number, link in enumerate(machine.links, start=1):
        command += _experiment_nic(number, link)
    return command


def escaped(path: Path) -> str:
    """The path as part of an option: QEMU takes two commas for one that separates nothing."""
    return str(path).replace(",", ",,")


def _experiment_nic(number: int, link: Link) -> list[str]:
    cable = (
        f"dgram,id=link{number},local.type=unix,local.path={link.socket_name},"
        f"remote.type=unix,remote.path={link.peer_socket_name}"
    )
    return ["-netdev", cable, "-device", f"virtio-net-pci,netdev=link{number},mac={link.mac},romfile="]
