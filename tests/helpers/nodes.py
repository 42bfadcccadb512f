"""Inventories and facts of nodes that exist on paper."""

from functools import cache
from pathlib import Path
from typing import Any

from rogue.harness.provisioning.inventory import Inventory, load_inventory

INVENTORY = """\
all:
  vars:
    testbed_kind: virtual
    ansible_host: 127.0.0.1
    known_hosts_file: {directory}/known_hosts
    ansible_user: root
    ansible_ssh_private_key_file: {directory}/id_ecdsa
    ansible_ssh_common_args: -o UserKnownHostsFile={directory}/known_hosts -o StrictHostKeyChecking=yes
    experiment_mtu: 4300
  children:
    hosts:
      vars: {{rdma_device_kind: soft_roce}}
      hosts:
        h0: {{ansible_port: 4001, experiment_address: 10.9.0.10, experiment_interface: eth1}}
        h1: {{ansible_port: 4002, experiment_address: 10.9.0.11, experiment_interface: eth1}}
    switch:
      hosts:
        fabric:
          ansible_port: 4003
          ports:
            - {{bridge: s0, interface: eth1, peer: h0}}
            - {{bridge: s0, interface: eth2, peer: h1}}
"""


def write_inventory(directory: Path, *changes: tuple[str, str]) -> Path:
    """Two hosts and a switch, with words replaced."""
    text = INVENTORY.format(directory=directory)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = directory / "inventory.yaml"
    path.write_text(text)
    return path


def host_facts(address: str, peer: str) -> dict[str, Any]:
    """What `node_facts` says about a host that can measure."""
    return {
        "kernel": "6.1.0",
        "python": "3.11.2",
        "distribution": "Debian GNU/Linux 12 (bookworm)",
        "is_supported_system": True,
        "ipv6_gids": [],
        "tools": {"tc": "tc utility, iproute2-6.1.0", "pyverbs": "44.0-2"},
        "interfaces": {"eth1": {"mac": "52:54:00:00:00:01", "mtu": 4300, "is_up": True, "gro": "on"}},
        "interface_with_mac": None,
        "addresses": {"eth0": ["10.0.2.15"], "eth1": [address]},
        "rdma_ports": [
            {
                "device": "rxe0", "port": 1, "gid_index": 1, "interface": "eth1", "state": "ACTIVE",
                "is_asked_for": True, "hca_type": "", "rate_bps": 2_500_000_000,
            }
        ],
        "changes": 16,
        "drift": [],
        "files": {"/opt/rogue/dool": "aa" * 32},
        "processes": [],
        "spooled_bytes": 0,
        "leftovers": [],
        "free_bytes": 200_000_000,
        "memory_bytes": 200_000_000,
        "round_trips_ms": {peer: 5.0},
        "small_packets_only": [],
    }  # fmt: skip


def switch_facts() -> dict[str, Any]:
    """What `node_facts` says about a switch in order."""
    port = {"mac": "52:54:00:00:00:01", "mtu": 4300, "is_up": True, "gro": "on"}
    return {
        **host_facts("", ""),
        "interfaces": {"eth1": dict(port), "eth2": dict(port)},
        "rdma_ports": [],
        "files": {},
        "round_trips_ms": {},
    }


@cache
def read_inventory(path: Path, *, is_trusted: bool = False) -> Inventory:
    """What Ansible makes of a file; asked once, as that takes a second."""
    return load_inventory(path, is_trusted=is_trusted)
