"""QEMU machines: command lines, processes and consoles, and whether KVM works."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from rogue.remote.login import Login
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import Image
from rogue.virtual.machines import machine_plan
from rogue.virtual.machines.machine_plan import Link, MachinePlan
from rogue.virtual.prerequisites import dying_with_owner, run

PROGRAM = "qemu-system-x86_64"
_KERNEL_ARGUMENTS = (
    "console=ttyS0 panic=-1 mitigations=off nokaslr random.trust_cpu=on rcupdate.rcu_expedited=1 "
    "net.ifnames=0 quiet"
)


class Accelerator(Enum):
    """KVM, or emulation of the processor by TCG."""

    KVM = "kvm"
    TCG = "tcg"

    @property
    def arguments(self) -> list[str]:
        """Return QEMU's arguments. TCG gets a small translation cache: by default it grows to 700 MB.

        For a machine with at most one processor, TCG leaves out the barriers of locked instructions, although
        devices run in other threads; then a notification of a NIC is lost now and then, and it stays silent.
        `maxcpus=2` keeps the barriers.
        """
        if self is Accelerator.KVM:
            return ["-accel", "kvm", "-cpu", "host", "-smp", "1"]
        return ["-accel", "tcg,tb-size=64", "-cpu", "max", "-smp", "1,maxcpus=2"]

    @property
    def boot_timeout_s(self) -> float:
        """Return the time limit for booting on a busy host."""
        return 60.0 if self is Accelerator.KVM else 240.0


@dataclass(frozen=True, slots=True)
class Boot:
    """Files that a machine boots from."""

    kernel: Path
    initrd: Path
    root: Path | None = None
    extra_arguments: str = ""


def base_command(name: str, boot: Boot, accelerator: Accelerator, memory_mib: int) -> list[str]:
    """Return the command of a machine with processor, memory, console file and kernel, without devices.

    Console, initial RAM disk and sockets are in QEMU's working directory, because a socket's path has at most
    107 characters.
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
    """Return the command with disk, management NIC on 127.0.0.1, and experiment NICs on unix sockets."""
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
    """Return a path as part of an option: QEMU reads two commas as one character."""
    return str(path).replace(",", ",,")


def _experiment_nic(number: int, link: Link) -> list[str]:
    cable = (
        f"dgram,id=link{number},local.type=unix,local.path={link.socket_name},"
        f"remote.type=unix,remote.path={link.peer_socket_name}"
    )
    return ["-netdev", cable, "-device", f"virtio-net-pci,netdev=link{number},mac={link.mac},romfile="]


_POLL_INTERVAL_S: Final = 0.05
_LINES_SHOWN: Final = 20
_PREFIX: Final = "rogue-guest: "


class Console:
    """The files NAME.console and NAME.stderr of one machine, in its working directory."""

    def __init__(self, machine: str, directory: Path) -> None:
        self.machine = machine
        self._console = directory / f"{machine}.console"
        self.complaints = directory / f"{machine}.stderr"

    def wait_for_line(self, word: str, deadline_s: float, is_running: Callable[[], bool]) -> None:
        """Wait for the guest's line ``word`` until time.monotonic() is ``deadline_s``."""
        started_s = time.monotonic()
        while f"{_PREFIX}{word}" not in self.text():
            if not is_running() and f"{_PREFIX}{word}" not in self.text():
                raise self.problem("ended before it was up")
            if time.monotonic() >= deadline_s:
                raise self.problem(f"did not come up within {time.monotonic() - started_s:.0f} s")
            time.sleep(_POLL_INTERVAL_S)

    def text(self) -> str:
        """Return the output on the serial console so far."""
        return _read(self._console).replace("\r", "")

    def problem(self, what: str) -> VirtualTestbedError:
        """Return an error with the last lines of the console and of QEMU."""
        lines = [*self.text().splitlines(), *_read(self.complaints).splitlines()]
        last = [f"  | {line}" for line in lines if line.strip()][-_LINES_SHOWN:] or ["  | (nothing)"]
        return VirtualTestbedError(
            "\n".join([f"machine {self.machine} {what}; the end of its console:", *last])
        )


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


_END_TIMEOUT_S = 10.0


class MachineProcess:
    """One running QEMU. It dies with this process, however that ends, and ignores the terminal's Ctrl-C."""

    def __init__(self, name: str, command: Sequence[str], directory: Path) -> None:
        self.name = name
        self.console = Console(name, directory)
        with self.console.complaints.open("wb") as stderr:
            self._process = subprocess.Popen(
                dying_with_owner(command),
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                cwd=directory,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id of QEMU."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True if the machine still has power."""
        return self._process.poll() is None

    def wait_for_line(self, word: str, deadline_s: float) -> None:
        """Wait for the guest's line ``word`` until time.monotonic() is ``deadline_s``."""
        self.console.wait_for_line(word, deadline_s, lambda: self.is_running)

    def end(self) -> None:
        """Switch the machine off; its file system is a RAM overlay, so there is nothing to save."""
        self._process.kill()
        self._process.wait(_END_TIMEOUT_S)


VARIABLE: Final = "ROGUE_ACCELERATOR"
"""Environment variable with an accelerator; with it nothing is probed."""
_KVM_DEVICE = Path("/dev/kvm")
_PROBE_TIMEOUT_S = 20.0
_PROBE_MEMORY_MIB = 256
_VERSION_TIMEOUT_S = 20.0
_VERDICTS = "kvm-verdicts.json"


def choose(image: Image, cache: Path, progress: Callable[[str], None]) -> Accelerator:
    """Return the accelerator of the environment, or probe once per image, kernel and QEMU."""
    if named := os.environ.get(VARIABLE):
        return _named(named)
    if not os.access(_KVM_DEVICE, os.R_OK | os.W_OK):
        return Accelerator.TCG
    circumstances = f"{image.digest} / {os.uname().release} / {_qemu_version()}"
    path = cache / _VERDICTS
    verdicts = _read_verdicts(path)
    if circumstances not in verdicts:
        progress("machines: trying whether KVM boots a kernel here")
        verdicts[circumstances] = _probe(image)
        path.write_text(json.dumps(verdicts, indent=1) + "\n")
        progress(f"machines: {verdicts[circumstances] or 'it does'}")
    return Accelerator.TCG if verdicts[circumstances] else Accelerator.KVM


def _named(name: str) -> Accelerator:
    try:
        return Accelerator(name)
    except ValueError:
        known = " or ".join(each.value for each in Accelerator)
        raise VirtualTestbedError(
            f"environment: got {VARIABLE}={name!r}, expected {known}; correct it, or unset it"
        ) from None


def _qemu_version() -> str:
    return run([PROGRAM, "--version"], timeout_s=_VERSION_TIMEOUT_S).splitlines()[0]


def _read_verdicts(path: Path) -> dict[str, str]:
    """Map circumstances to why KVM failed there ("" if it worked); a damaged file counts as no verdict."""
    try:
        verdicts = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return verdicts if isinstance(verdicts, dict) else {}


def _probe(image: Image) -> str:
    """Boot the kernel under KVM until its first program replies; say in one line why it did not."""
    with tempfile.TemporaryDirectory(prefix="rogue-probe-") as scratch:
        boot = Boot(image.kernel, image.initrd, extra_arguments="rogue.probe")
        command = base_command("probe", boot, Accelerator.KVM, _PROBE_MEMORY_MIB)
        process = MachineProcess("probe", command, Path(scratch))
        try:
            process.wait_for_line("probe answered", time.monotonic() + _PROBE_TIMEOUT_S)
        except VirtualTestbedError as error:
            return f"it does not, so they are emulated; {error}"
        finally:
            process.end()
    return ""


@dataclass(frozen=True, slots=True)
class Assembly:
    """Commands of machines, to be run in their directory, and SSH ports."""

    commands: dict[str, list[str]]
    ssh_ports: dict[str, int]


def assemble(
    plans: Sequence[MachinePlan], image: Image, accelerator: Accelerator, directory: Path
) -> Assembly:
    """Write every file that the machines and their clients need; start nothing."""
    names = [plan.name for plan in plans]
    keys = machine_plan.generate_keys(names)
    ssh_ports = dict(zip(names, machine_plan.free_ports(len(plans)), strict=True))
    machine_plan.write_client_files(directory, keys, ssh_ports)
    commands = {}
    for plan in plans:
        initrd = Path(f"{plan.name}.initrd")
        (directory / initrd).write_bytes(image.initrd.read_bytes() + machine_plan.seed(plan, keys))
        boot = Boot(image.kernel, initrd, image.root)
        commands[plan.name] = machine_command(plan, boot, accelerator, ssh_ports[plan.name])
    return Assembly(commands, ssh_ports)


def logins(directory: Path, ssh_ports: dict[str, int]) -> dict[str, Login]:
    """Return the login of each machine with the files in ``directory``."""
    key_file, known_hosts = directory / machine_plan.CLIENT_KEY, directory / machine_plan.KNOWN_HOSTS
    return {
        name: Login(name, machine_plan.LOOPBACK, port, machine_plan.USER, (key_file,), (known_hosts,))
        for name, port in ssh_ports.items()
    }
