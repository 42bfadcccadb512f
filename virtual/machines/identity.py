"""Keys of one testbed and of each of its machines, and the files that give a machine its identity."""

from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import paramiko

from rogue.virtual.image.cpio import Entry, archive
from rogue.virtual.machines.plan import MachinePlan
from rogue.virtual.network import EXPERIMENT_MTU_BYTES

MANAGEMENT_ADDRESS = "10.0.2.15/24"  # what QEMU's user network expects of its one guest
LOOPBACK = "127.0.0.1"  # where QEMU forwards a port to each machine's SSH
USER = "root"
CLIENT_KEY = "id_ecdsa"
KNOWN_HOSTS = "known_hosts"


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that opens every machine of the testbed, and each machine's host key."""

    client: paramiko.ECDSAKey
    hosts: dict[str, paramiko.ECDSAKey]


def generate_keys(names: list[str]) -> Keys:
    """Make fresh keys; they live and die with the testbed."""
    return Keys(paramiko.ECDSAKey.generate(), {name: paramiko.ECDSAKey.generate() for name in names})


def write_client_files(directory: Path, keys: Keys, ports: dict[str, int]) -> None:
    """Write the client's key and the machines' public keys, so that plain ssh reaches them as well."""
    keys.client.write_private_key_file(str(directory / CLIENT_KEY))
    lines = [f"[{LOOPBACK}]:{ports[name]} {_public(key)}\n" for name, key in keys.hosts.items()]
    (directory / KNOWN_HOSTS).write_text("".join(lines))


def seed(machine: MachinePlan, keys: Keys) -> bytes:
    """The second half of the machine's initial RAM disk: files copied over its root file system."""
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
    """The shell variables that the machine's boot script reads."""
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
