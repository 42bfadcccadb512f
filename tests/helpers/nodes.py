"""Inventories, manifests and facts of nodes that exist on paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers.fake_agents import CAPABILITIES, fake_inventory
from helpers.fake_switch import hardware, wanted

from rogue.agent.node.messages import Capabilities
from rogue.harness.experiment.load import load_experiment
from rogue.harness.plan.plan import plan_cells
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.testbeds.ssh.support import unsupported
from rogue.harness.testbeds.ssh.testbed import SshTestbed
from rogue.remote.login import Login

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
    """Write an inventory of two hosts and a switch, with texts replaced."""
    text = INVENTORY.format(directory=directory)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = directory / "inventory.yaml"
    path.write_text(text)
    return path


def host_facts(address: str, peer: str) -> dict[str, Any]:
    """Return facts of `node_facts` about a host that can measure."""
    return {
        "kernel": "6.1.0",
        "python": "3.11.2",
        "distribution": "Debian GNU/Linux 12 (bookworm)",
        "family": "debian",
        "is_supported_system": True,
        "ipv6_gids": [],
        "missing_tools": [],
        "interfaces": {"eth1": {"mac": "52:54:00:00:00:01", "mtu": 4300, "is_up": True, "gro": "on"}},
        "interface_with_mac": None,
        "addresses": {"eth0": ["10.0.2.15"], "eth1": [address]},
        "rdma_ports": [
            {
                "device": "rxe0", "port": 1, "gid_index": 1, "interface": "eth1", "state": "ACTIVE",
                "is_own": True, "hca_type": "", "rate_bps": 2_500_000_000,
            }
        ],
        "is_provisioned": True,
        "drift": [],
        "files": {"/opt/rogue/dool": "aa" * 32},
        "processes": [],
        "spooled_bytes": 0,
        "leftovers": [],
        "free_bytes": 200_000_000,
        "round_trips_ms": {peer: 5.0},
        "small_packets_only": [],
    }  # fmt: skip


def switch_facts() -> dict[str, Any]:
    """Return facts of `node_facts` about a correct switch."""
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
    """Load an inventory once, because Ansible takes a second."""
    return load_inventory(path, is_trusted=is_trusted)


PRIORITY_3: Mapping[str, Any] = {"3": {"dscp": [26]}}
INTERFACES: Mapping[str, Sequence[str]] = {
    "eos": ("Ethernet1", "Ethernet2", "Ethernet3", "Ethernet4"),
    "sonic": ("Ethernet0", "Ethernet4", "Ethernet8", "Ethernet12"),
    "cumulus": ("swp1", "swp2", "swp3", "swp4"),
    "onyx": ("1/1", "1/2", "1/3", "1/4"),
}


def rack_of(platform: str, login: Login | None = None, **variables: Any) -> Inventory:
    """Return four hosts on a switch `tor`."""
    found = {"switch_priorities": PRIORITY_3, **variables}
    tor = hardware(wanted(platform, tuple(INTERFACES.get(platform, INTERFACES["eos"])), **found), login)
    plain = fake_inventory()
    card = {"rdma_device_kind": "card"}
    hosts = tuple(replace(host, variables=host.variables.model_copy(update=card)) for host in plain.hosts)
    return replace(plain, kind="nodes", hosts=hosts, switch=None, hardware_switches=(tor,))


def declared_rack(*priorities: Mapping[str, Any], platform: str = "declared", **variables: Any) -> Inventory:
    """Four hosts beside switches `tor` with these priorities, without logins."""
    tors = [hardware(wanted(platform, switch_priorities=each, **variables), None) for each in priorities]
    return replace(fake_inventory(), switch=None, hardware_switches=tuple(tors))


DATA = Path(__file__).parents[1] / "harness" / "data" / "manifests"
M510, XL170, C6525 = (DATA / f"{name}.xml" for name in ("m510", "xl170", "c6525"))


def cloudlab_manifest(hosts: int) -> str:
    """Return a manifest of hosts of type m510 on one LAN."""
    nodes = "".join(
        f'<node client_id="node{number}"><hardware_type name="m510"/>'
        f'<interface client_id="node{number}:eth1" mac_address="1458d0{number:06x}">'
        f'<ip address="10.10.{1 + number // 250}.{1 + number % 250}" type="ipv4" netmask="255.255.0.0"/>'
        f'</interface><services><login hostname="ms{number}.example.net" username="alice"/></services></node>'
        for number in range(hosts)
    )
    references = "".join(f'<interface_ref client_id="node{number}:eth1"/>' for number in range(hosts))
    return f'<rspec>{nodes}<link client_id="lan0">{references}</link></rspec>'


EXPERIMENTS = Path(__file__).parents[2] / "experiments/rogue-paper"
HOSTS = 33
OF_ITS_OWN_CARD = "topology.nic=null"


class Kind(NamedTuple):
    """A kind of node: its card, and the rate of its experiment port."""

    hca_type: str
    driver: str
    rate_bps: int

    @property
    def settings(self) -> list[str]:
        """Settings for experiments that name the paper's card, on another card."""
        rate = f"topology.rate={self.rate_bps // 10**9}Gbps"
        return [] if self.hca_type == "MT4103" else [OF_ITS_OWN_CARD, rate]


KINDS = {
    "m510": Kind("MT4103", "mlx4_core", 10_000_000_000),
    "xl170": Kind("MT4117", "mlx5_core", 25_000_000_000),
    "c6525-25g": Kind("MT4119", "mlx5_core", 25_000_000_000),
    "d6515": Kind("MT4119", "mlx5_core", 100_000_000_000),
    "r650": Kind("MT4123", "mlx5_core", 100_000_000_000),
}
"""Source: CloudLab, hardware page; cards by PCI ids of Linux's driver tables."""


class Judged(NamedTuple):
    """The plan of an experiment on nodes of one kind."""

    hosts: int
    cells: int
    planned: int
    transports: tuple[str, ...]
    """Those with a cell that can run."""
    reasons: tuple[str, ...]
    seconds: float


@cache
def judge(name: str, kind: str) -> Judged:
    """Plan an experiment on a switch that this project does not configure."""
    of, inventory = KINDS[kind], replace(fake_inventory(HOSTS), switch=None)
    nodes = {host.name: _node(of, str(host.variables.experiment_address)) for host in inventory.hosts}
    cells = plan_cells(load_experiment(str(EXPERIMENTS / f"{name}.yaml"), of.settings))
    said = [(cell, unsupported(cell, inventory, nodes)) for cell in cells]
    fit = [cell for cell, reason in said if reason is None]
    testbed = SshTestbed("nodes", Path("nodes.yaml"))
    return Judged(
        len(cells[0].topology.host_names()),
        len(cells),
        len(fit),
        tuple(dict.fromkeys(str(cell.transport.name) for cell in fit)),
        tuple(dict.fromkeys(reason for _, reason in said if reason)),
        sum(testbed.estimate_seconds(cell) for cell in fit),
    )


def table() -> str:
    """The rows of docs/how-to/racks.md: what runs on a switch that is not configured, and what it costs.

    TCPs are left out, because they need a switch that marks, or measure another TCP than they are called.
    """
    rows = ["| experiment | hosts | runs | minutes | node-hours |", "| --- | --: | --- | --: | --: |"]
    for name in names():
        judged = judge(name, "m510")
        own = [transport for transport in judged.transports if transport.startswith(("rogue", "roce"))]
        hours = judged.hosts * judged.seconds / 3_600
        cost = f"{judged.seconds / 60:.0f} | {hours:.1f}" if own else "-- | --"
        rows.append(f"| `{name}` | {judged.hosts} | {', '.join(own) or 'nothing'} | {cost} |")
    return "\n".join(rows)


def names() -> Iterator[str]:
    """Experiments of the paper's figures."""
    return (path.stem for path in sorted(EXPERIMENTS.glob("*.yaml")))


def _node(kind: Kind, address: str) -> Capabilities:
    port = {
        "device": "mlx", "driver": kind.driver, "hca_type": kind.hca_type, "address": address,
        "netdev": "eth1", "rate_bps": kind.rate_bps,
    }  # fmt: skip
    return replace(CAPABILITIES, ports=[port], limiters=["dcb:eth1", "software"])


def use_inventory(monkeypatch: pytest.MonkeyPatch, inventory: Inventory) -> None:
    """Let every command read this inventory, whatever file it is given."""
    monkeypatch.setattr(
        "rogue.harness.provisioning.inventory.load_inventory", lambda _path, is_trusted: inventory
    )
