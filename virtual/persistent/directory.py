"""The directory of a testbed that stays up: its record, its lock and its inventory."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from pydantic import TypeAdapter, ValidationError

from rogue.virtual import cache
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.machines.machine_plan import CLIENT_KEY, KNOWN_HOSTS, LOOPBACK, SWITCHING_MACHINE, USER
from rogue.virtual.network import EXPERIMENT_MTU_BYTES, EXPERIMENT_NETWORK, PREFIX_LENGTH, VirtualNetwork


@dataclass(frozen=True, slots=True)
class Record:
    """Network, accelerator, and the SSH port of each machine on 127.0.0.1."""

    network: VirtualNetwork
    accelerator: Accelerator
    ssh_ports: dict[str, int]


_RECORDS: Final = TypeAdapter(Record)


def write_record(path: Path, record: Record) -> None:
    """Write a record as a whole or not at all."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(_RECORDS.dump_json(record, indent=1))
    fresh.rename(path)


def read_record(path: Path) -> Record | None:
    """Read a record; None if there is none, or if another version of this program wrote it."""
    try:
        return _RECORDS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


DEFAULT_NAME: Final = "default"
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
_MEANINGFUL: Final = re.compile(r"[\"'%$\\{}]|[^\S ]")
"""Characters that change the meaning of a path in an SSH option of an inventory."""


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The files of the testbed ``name``; they are there from the start of `up` to the end of `down`."""

    name: str
    path: Path

    @property
    def inventory(self) -> Path:
        """Return the path of the inventory."""
        return self.path / "inventory.yaml"

    @property
    def record(self) -> Path:
        """Return the path of the record; it is written last, so that a half-started testbed has none."""
        return self.path / "testbed.json"

    @contextmanager
    def locked(self, progress: Callable[[str], None]) -> Iterator[None]:
        """Keep other commands away from the testbeds of this user."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        waiting = f"testbed {self.name}: waiting for another command"
        with cache.locked(self.path.parent / ".lock", lambda: progress(waiting)):
            yield

    def make(self) -> None:
        """Make the directory, readable by its owner only, because it has the machines' keys."""
        self.path.mkdir(mode=0o700)

    def remove(self) -> None:
        """Delete the directory with all that is in it, if it exists."""
        shutil.rmtree(self.path, ignore_errors=not self.path.exists())


def state_directory(name: str) -> StateDirectory:
    """Return the directory of the testbed ``name``: below $XDG_STATE_HOME, or ~/.local/state."""
    if not _NAME.fullmatch(name):
        expected = "a small letter and up to 31 small letters, digits or dashes"
        raise VirtualTestbedError(
            f"name of a testbed: got {name!r}, expected {expected}; choose another name"
        )
    return StateDirectory(name, _home() / name)


def names() -> list[str]:
    """Return the names of this user's testbeds that are up or have left files."""
    return sorted(path.name for path in _home().glob("*") if path.is_dir() and _NAME.fullmatch(path.name))


def _home() -> Path:
    configured = os.environ.get("XDG_STATE_HOME")
    base = (Path(configured) if configured else Path.home() / ".local/state").absolute()
    if found := _MEANINGFUL.search(str(base)):
        raise VirtualTestbedError(
            f"directory of testbeds: got {str(base)!a}, expected a path without special characters of SSH, "
            f"such as {found[0]!a}; set XDG_STATE_HOME to another one"
        )
    return base / "rogue" / "testbeds"


_MULTIPLEXED: Final = "-o ControlMaster=auto -o ControlPersist=300s -o Compression=no"


def inventory_text(name: str, directory: Path, network: VirtualNetwork, ssh_ports: Mapping[str, int]) -> str:
    """Return the YAML inventory: groups `hosts` and `switch`, whose one machine holds all switches."""
    groups = {
        "hosts": {
            "vars": {"rdma_device_kind": "soft_roce"},
            "hosts": {host: _host(network, host, ssh_ports[host]) for host in network.hosts},
        },
        "switch": {
            "vars": {"switch_platform": "linux"},
            "hosts": {SWITCHING_MACHINE: _switching(network, ssh_ports[SWITCHING_MACHINE])},
        },
    }
    content = {"all": {"vars": _of_all(name, directory), "children": groups}}
    return yaml.safe_dump(content, sort_keys=False, width=1000)


def _of_all(name: str, directory: Path) -> dict[str, object]:
    known_hosts = directory / KNOWN_HOSTS
    verified = (
        f"-F none -o 'UserKnownHostsFile=\"{known_hosts}\"' -o GlobalKnownHostsFile=none "
        "-o StrictHostKeyChecking=yes -o IdentitiesOnly=yes -o IdentityAgent=none"
    )
    return {
        "testbed_kind": "virtual",
        "testbed_name": name,
        "known_hosts_file": str(known_hosts),
        "ansible_user": USER,
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_private_key_file": str(directory / CLIENT_KEY),
        "ansible_ssh_args": _MULTIPLEXED,
        "ansible_ssh_common_args": verified,
        "ansible_ssh_host_key_checking": True,
        "ansible_ssh_pipelining": True,
        "experiment_network": f"{EXPERIMENT_NETWORK}/{PREFIX_LENGTH}",
        "experiment_mtu": EXPERIMENT_MTU_BYTES,
    }


def _host(network: VirtualNetwork, host: str, ssh_port: int) -> dict[str, object]:
    return {
        "ansible_host": LOOPBACK,
        "ansible_port": ssh_port,
        "experiment_address": network.address(host),
        "experiment_prefix_length": PREFIX_LENGTH,
        "experiment_interface": "eth1",
        "experiment_switch": network.switch_of(host),
    }


def _switching(network: VirtualNetwork, ssh_port: int) -> dict[str, object]:
    return {
        "ansible_host": LOOPBACK,
        "ansible_port": ssh_port,
        "bridges": list(network.switches),
        "ports": [
            {"bridge": port.bridge, "interface": port.interface, "peer": port.peer}
            for port in network.ports()
        ],
    }
