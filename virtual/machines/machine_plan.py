"""Describe the machines of a virtual network, and write the files by which they boot and SSH reaches them."""

import socket
from contextlib import ExitStack
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Final

import paramiko

from rogue.virtual.image.initrd import Entry, archive
from rogue.virtual.network import EXPERIMENT_MTU_BYTES, PREFIX_LENGTH, VirtualNetwork


def free_ports(count: int) -> list[int]:
    """Return ``count`` distinct free TCP ports of 127.0.0.1; QEMU binds them right afterwards."""
    with ExitStack() as stack:
        ports = []
        for _ in range(count):
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            ports.append(int(listener.getsockname()[1]))
        return ports


SWITCHING_MACHINE: Final = "fabric"
_MEMORY_MIB: Final = 384


@dataclass(frozen=True, slots=True)
class Link:
    """One end of a cable: a NIC of the machine, joined by two unix sockets with a NIC of another machine."""

    socket_name: str
    peer_socket_name: str
    mac: str
    address: str = ""
    """IP address with prefix length; empty for none."""
    bridge: str = ""
    """Bridge that the NIC is a port of; empty for none."""
    soft_roce: bool = False
    """True if the machine boots with a soft-RoCE device on it."""
    mtu_bytes: int = EXPERIMENT_MTU_BYTES


@dataclass(frozen=True, slots=True)
class MachinePlan:
    """One QEMU machine, before it has keys and ports; ``trunks`` are pairs of its bridges that are joined."""

    name: str
    links: tuple[Link, ...]
    bridges: tuple[str, ...] = ()
    trunks: tuple[tuple[str, str], ...] = ()
    memory_mib: int = _MEMORY_MIB


def machines_of(network: VirtualNetwork) -> tuple[MachinePlan, ...]:
    """Return one machine that holds every switch, and one per host; the first boots first."""
    switching = MachinePlan(
        SWITCHING_MACHINE,
        tuple(
            _link(SWITCHING_MACHINE, host, number, bridge=network.switch_of(host))
            for number, host in enumerate(network.hosts, start=1)
        ),
        bridges=network.switches,
        trunks=network.trunks,
    )
    hosts = [
        MachinePlan(
            host,
            (_link(host, SWITCHING_MACHINE, number, address=f"{network.address(host)}/{PREFIX_LENGTH}"),),
        )
        for number, host in enumerate(network.hosts, start=1)
    ]
    return (switching, *hosts)


def _link(name: str, peer: str, number: int, *, address: str = "", bridge: str = "") -> Link:
    side = "05" if bridge else "09"
    return Link(
        socket_name=f"{name}-{peer}.sock",
        peer_socket_name=f"{peer}-{name}.sock",
        mac=f"52:54:00:{side}:00:{number:02x}",
        address=address,
        bridge=bridge,
    )


MANAGEMENT_ADDRESS = "10.0.2.15/24"  # what QEMU's user network expects of its one guest
LOOPBACK = "127.0.0.1"  # where QEMU forwards a port to each machine's SSH
USER = "root"
CLIENT_KEY = "id_ecdsa"
KNOWN_HOSTS = "known_hosts"


@dataclass(frozen=True, slots=True)
class Keys:
    """SSH keys of a testbed: the client's, which every machine accepts, and each machine's host key."""

    client: paramiko.ECDSAKey
    hosts: dict[str, paramiko.ECDSAKey]


def generate_keys(names: list[str]) -> Keys:
    """Return new keys for these machines."""
    return Keys(paramiko.ECDSAKey.generate(), {name: paramiko.ECDSAKey.generate() for name in names})


def write_client_files(directory: Path, keys: Keys, ports: dict[str, int]) -> None:
    """Write the client's private key and known_hosts into a testbed's directory, for plain ssh as well."""
    keys.client.write_private_key_file(str(directory / CLIENT_KEY))
    lines = [f"[{LOOPBACK}]:{ports[name]} {_public(key)}\n" for name, key in keys.hosts.items()]
    (directory / KNOWN_HOSTS).write_text("".join(lines))


def seed(machine: MachinePlan, keys: Keys) -> bytes:
    """Return the part of the initial RAM disk whose files are copied over the machine's root file system."""
    host_key = StringIO()
    keys.hosts[machine.name].write_private_key(host_key)
    return archive(
        [
            Entry("seed/etc/hostname", f"{machine.name}\n".encode(), 0o644),
            Entry("seed/etc/rogue/machine", machine_settings(machine).encode(), 0o644),
            Entry("seed/etc/ssh/ssh_host_key", host_key.getvalue().encode(), 0o600),
            Entry("seed/root/.ssh", None, 0o700),
            Entry("seed/root/.ssh/authorized_keys", f"{_public(keys.client)}\n".encode(), 0o600),
        ]
    )


def machine_settings(machine: MachinePlan) -> str:
    """Return the shell variables that the machine's boot script reads."""
    lines = [
        f"name={machine.name}",
        f"management={MANAGEMENT_ADDRESS}",
        f"bridges='{' '.join(machine.bridges)}'",
        f"trunks='{' '.join(f'{a}:{b}' for a, b in machine.trunks)}'",
        f"trunk_mtu={EXPERIMENT_MTU_BYTES}",
    ]
    for number, link in enumerate(machine.links, start=1):
        lines += [
            f"mtu_{number}={link.mtu_bytes}",
            f"address_{number}={link.address}",
            f"bridge_{number}={link.bridge}",
            f"rxe_{number}={'yes' if link.soft_roce else 'no'}",
        ]
    return "".join(f"{line}\n" for line in lines)


def _public(key: paramiko.ECDSAKey) -> str:
    return f"{key.get_name()} {key.get_base64()}"
