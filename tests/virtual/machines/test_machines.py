"""Tests: plans, commands and processes of QEMU machines."""

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import paramiko
import pytest
from helpers.running_machines import pair

from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import Image
from rogue.virtual.machines import assembly, machine_plan
from rogue.virtual.machines.assembly import (
    Accelerator,
    Boot,
    Console,
    MachineProcess,
    assemble,
    logins,
    machine_command,
)
from rogue.virtual.machines.machine_plan import machines_of
from rogue.virtual.network import network

IMAGE = Image(Path("/cache/0123"))


class Probe:
    """Replaces the probe boot: returns `verdict` and counts."""

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict
        self.boots = 0

    def boot(self, image: Image) -> str:
        self.boots += 1
        return self.verdict


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore an accelerator of the environment."""
    monkeypatch.delenv(assembly.VARIABLE, raising=False)


@pytest.fixture
def kvm_device(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(assembly, "_KVM_DEVICE", tmp_path / "kvm")
    monkeypatch.setattr(assembly, "_qemu_version", lambda: "QEMU 7.2")


def choose(monkeypatch: pytest.MonkeyPatch, cache: Path, probe: Probe) -> Accelerator:
    monkeypatch.setattr(assembly, "_probe", probe.boot)
    return assembly.choose(IMAGE, cache, lambda text: None)


@pytest.mark.usefixtures("kvm_device")
@pytest.mark.parametrize(
    ("named", "device", "verdict", "chosen", "boots"),
    [
        ("", "kvm", "", Accelerator.KVM, 1),
        ("", "kvm", "aborted", Accelerator.TCG, 1),
        ("", "absent", "", Accelerator.TCG, 0),
        ("kvm", "absent", "", Accelerator.KVM, 0),
        ("tcg", "kvm", "", Accelerator.TCG, 0),
    ],
)
def test_accelerator_is_named_or_probed_once(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    named: str,
    device: str,
    verdict: str,
    chosen: Accelerator,
    boots: int,
) -> None:
    monkeypatch.setenv(assembly.VARIABLE, named)
    monkeypatch.setattr(assembly, "_KVM_DEVICE", tmp_path / device)
    probe = Probe(verdict)
    assert [choose(monkeypatch, tmp_path, probe) for _ in range(2)] == [chosen, chosen]
    assert probe.boots == boots


def test_unknown_accelerator_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(assembly.VARIABLE, "xen")
    with pytest.raises(
        VirtualTestbedError, match="got ROGUE_ACCELERATOR='xen', expected kvm or tcg; correct it"
    ):
        choose(monkeypatch, tmp_path, Probe(""))


@pytest.fixture
def image(tmp_path: Path) -> Image:
    (tmp_path / "image").mkdir()
    (tmp_path / "image/initrd.img").write_bytes(b"base")
    return Image(tmp_path / "image")


def test_each_machine_has_its_own_ssh_port(tmp_path: Path, image: Image) -> None:
    assembly = assemble(pair(), image, Accelerator.TCG, tmp_path)
    by_name = logins(tmp_path, assembly.ssh_ports)
    known = paramiko.HostKeys(str(by_name["h1"].known_hosts[0]))
    assert {f"[127.0.0.1]:{login.port}" for login in by_name.values()} == set(known.keys())
    assert len({login.port for login in by_name.values()}) == 2
    assert paramiko.ECDSAKey.from_private_key_file(str(by_name["h1"].key_files[0]))
    for name, login in by_name.items():
        assert f"hostfwd=tcp:127.0.0.1:{login.port}-:22" in " ".join(assembly.commands[name])


@pytest.fixture(scope="module")
def keys() -> machine_plan.Keys:
    return machine_plan.generate_keys(["h1", "h2"])


def test_known_hosts_has_each_machine(tmp_path: Path, keys: machine_plan.Keys) -> None:
    machine_plan.write_client_files(tmp_path, keys, {"h1": 2201, "h2": 2202})
    known = paramiko.HostKeys(str(tmp_path / "known_hosts"))
    assert known.check("[127.0.0.1]:2201", keys.hosts["h1"])
    assert not known.check("[127.0.0.1]:2201", keys.hosts["h2"])
    assert not known.check("[127.0.0.1]:22", keys.hosts["h1"])


def test_client_key_is_private(tmp_path: Path, keys: machine_plan.Keys) -> None:
    machine_plan.write_client_files(tmp_path, keys, {"h1": 2201, "h2": 2202})
    assert (tmp_path / "id_ecdsa").stat().st_mode & 0o077 == 0
    assert paramiko.ECDSAKey.from_private_key_file(str(tmp_path / "id_ecdsa")) == keys.client


def test_seed_has_only_the_key_of_its_machine(keys: machine_plan.Keys) -> None:
    first, _ = pair()
    seed = machine_plan.seed(first, keys)
    assert b"BEGIN EC PRIVATE KEY" in seed
    assert seed.count(b"PRIVATE KEY-----") == 2
    assert keys.client.get_base64().encode() in seed


def test_boot_settings_of_a_host() -> None:
    first, _ = pair()
    assert machine_plan.machine_settings(first) == (
        "name=h1\nmanagement=10.0.2.15/24\nbridges=''\ntrunks=''\ntrunk_mtu=4300\n"
        "mtu_1=4300\naddress_1=10.9.0.1/24\nbridge_1=\nrxe_1=yes\n"
    )


def test_boot_settings_of_the_switching_machine() -> None:
    two = network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")])
    settings = machine_plan.machine_settings(machines_of(two)[0]).splitlines()
    assert settings[2:5] == ["bridges='s0 s1'", "trunks='s0:s1'", "trunk_mtu=4300"]
    assert settings[5:9] == ["mtu_1=4300", "address_1=", "bridge_1=s0", "rxe_1=no"]
    assert "bridge_2=s1" in settings


DUMBBELL = network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")])


def test_one_machine_for_all_switches_and_one_per_host() -> None:
    fabric, *hosts = machines_of(DUMBBELL)
    assert (fabric.name, fabric.bridges, fabric.trunks) == ("fabric", ("s0", "s1"), (("s0", "s1"),))
    assert [host.name for host in hosts] == ["h0", "h1"]
    assert [link.bridge for link in fabric.links] == ["s0", "s1"]
    assert [link.address for host in hosts for link in host.links] == ["10.9.0.10/24", "10.9.0.11/24"]


def test_sockets_and_macs_are_unique() -> None:
    links = [link for machine in machines_of(DUMBBELL) for link in machine.links]
    assert len({link.socket_name for link in links}) == len(links)
    assert {link.socket_name for link in links} == {link.peer_socket_name for link in links}
    assert len({link.mac for link in links}) == len(links)


LONG_S = 60.0
ROOT = Path(__file__).parents[3]


def start(tmp_path: Path, script: str) -> MachineProcess:
    """Start a shell script as a machine."""
    return MachineProcess("h1", ["sh", "-c", script], tmp_path)


def test_machine_is_up_when_it_reports_ready(tmp_path: Path) -> None:
    machine = start(tmp_path, 'echo "rogue-guest: ready" >h1.console; exec tail -f /dev/null')
    machine.wait_for_line("ready", time.monotonic() + LONG_S)
    assert machine.is_running
    machine.end()
    assert not machine.is_running


def test_machine_that_ends_early_shows_its_console(tmp_path: Path) -> None:
    machine = start(tmp_path, 'echo "rogue-guest: failed: no disk" >h1.console; echo "qemu: bad option" >&2')
    with pytest.raises(VirtualTestbedError) as caught:
        machine.wait_for_line("ready", time.monotonic() + LONG_S)
    assert str(caught.value).splitlines() == [
        "machine h1 ended before it was up; the end of its console:",
        "  | rogue-guest: failed: no disk",
        "  | qemu: bad option",
    ]
    machine.end()


STARTER = """
import sys
from pathlib import Path
from rogue.virtual.machines.assembly import MachineProcess
machine = MachineProcess("h1", ["tail", "-f", "/dev/null"], Path(sys.argv[1]))
print(machine.pid, flush=True)
sys.stdin.read()
"""


def test_machine_of_a_dead_owner_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # the owner is someone who is not the machine's parent
    machine = start(tmp_path, "exec tail -f /dev/null")
    with pytest.raises(VirtualTestbedError, match="ended before it was up"):
        machine.wait_for_line("ready", time.monotonic() + LONG_S)


def test_machine_does_not_outlive_its_owner(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as owner:
        assert owner.stdout is not None
        machine = os.pidfd_open(int(owner.stdout.readline()))
        waiting = select.poll()
        waiting.register(machine, select.POLLIN)
        assert waiting.poll(0) == [], "the machine runs as long as its owner"
        owner.kill()
        assert waiting.poll(LONG_S * 1000) != [], "the machine is still running"
        os.close(machine)


def console(directory: Path, said: str = "", complaints: str = "") -> Console:
    (directory / "h1.console").write_text(said)
    (directory / "h1.stderr").write_text(complaints)
    return Console("h1", directory)


def wait(of: Console, *, has_power: bool, for_s: float = LONG_S) -> None:
    of.wait_for_line("ready", time.monotonic() + for_s, lambda: has_power)


def test_hanging_machine_times_out(tmp_path: Path) -> None:
    with pytest.raises(VirtualTestbedError, match="did not come up within 0 s"):
        wait(console(tmp_path, "Linux\n"), has_power=True, for_s=0)


def test_long_console_is_shortened(tmp_path: Path) -> None:
    said = console(tmp_path, "".join(f"{number}\n" for number in range(1, 101)))
    shown = str(said.problem("ended")).splitlines()[1:]
    assert shown == [f"  | {number}" for number in range(81, 101)]


def test_command_of_a_machine() -> None:
    """Nothing of the host's network is used, the image is read-only, and a crash of the kernel ends QEMU.

    Sockets and files are named from the machine's directory, because a socket's path has 107 characters.
    """
    boot = Boot(Path("/image/vmlinuz"), Path("h1.initrd"), Path("/an,image/root.ext4"))
    words = machine_command(pair()[0], boot, Accelerator.TCG, 2201)
    assert words == [
        *("qemu-system-x86_64", "-M", "q35", "-accel", "tcg,tb-size=64", "-cpu", "max"),
        *("-smp", "1,maxcpus=2", "-m", "384", "-nodefaults", "-no-user-config", "-display", "none"),
        *("-no-reboot", "-serial", "file:h1.console", "-kernel", "/image/vmlinuz", "-initrd", "h1.initrd"),
        "-append",
        "console=ttyS0 panic=-1 mitigations=off nokaslr random.trust_cpu=on rcupdate.rcu_expedited=1 "
        "net.ifnames=0 quiet",
        *("-drive", "file=/an,,image/root.ext4,format=raw,if=none,readonly=on,id=disk"),
        *("-device", "virtio-blk-pci,drive=disk"),
        "-netdev",
        "user,id=management,ipv6=off,restrict=on,hostfwd=tcp:127.0.0.1:2201-:22",
        *("-device", "virtio-net-pci,netdev=management,romfile="),
        "-netdev",
        "dgram,id=link1,local.type=unix,local.path=h1-h2.sock,remote.type=unix,remote.path=h2-h1.sock",
        *("-device", "virtio-net-pci,netdev=link1,mac=52:54:00:09:00:01,romfile="),
    ]
