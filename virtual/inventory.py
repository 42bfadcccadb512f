"""The inventory of a testbed: how Ansible and the harness reach its machines and what each is for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from rogue.virtual.machines.machine_plan import CLIENT_KEY, KNOWN_HOSTS, LOOPBACK, SWITCHING_MACHINE, USER
from rogue.virtual.network import EXPERIMENT_MTU_BYTES, EXPERIMENT_NETWORK, PREFIX_LENGTH, VirtualNetwork

_MULTIPLEXED: Final = "-o ControlMaster=auto -o ControlPersist=300s -o Compression=no"


def inventory_text(name: str, directory: Path, network: VirtualNetwork, ssh_ports: Mapping[str, int]) -> str:
    """YAML with two groups: `hosts`, and `switch`, whose one machine holds every switch of the topology."""
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
