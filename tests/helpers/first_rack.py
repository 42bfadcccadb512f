"""Simulate a new rack: twelve hosts and two SONiC switches behind a bastion that limits connections.

Bastion and hosts are real OpenSSH servers. Each host has its own directory of fake programs. What
Ansible finds out on it is found out by the very module that Ansible would run, on a node in memory.
"""

import getpass
import inspect
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko
import pytest
from ansible_collections.rogue.testbed.plugins.module_utils.snapshot import establish, keep
from ansible_collections.rogue.testbed.plugins.modules.node_facts import examine
from helpers.fake_card import FakeCardNode
from helpers.fake_shell_switches import FakeSonic
from helpers.fake_switch import ServedSwitch, served_switch
from helpers.nodes import read_inventory
from helpers.sshd import Server, served, served_crowd, user_agent

from rogue.agent.node.bundle import agent_archive
from rogue.harness.plugins.loading import packed_plugins
from rogue.harness.provisioning import doctor, inventory_source, provision, reach
from rogue.harness.provisioning.places import AGENT, DOOL
from rogue.harness.provisioning.playbook import Order, PlaybookResult
from rogue.harness.provisioning.provision import dool_script
from rogue.harness.provisioning.switches.operations import open_switch

HOSTS = tuple(f"h{number}" for number in range(12))
CARDS = ("MT4119", "MT4125", "MT41686")
"""ConnectX-5, ConnectX-6 Dx and BlueField-2: one after the other, four of each."""
LEAVES = {"leaf0": "202311.7-86546348f3", "leaf1": "202511.1234-a092c9705"}
PER_LEAF = len(HOSTS) // len(LEAVES)
MTU_BYTES = 4200
PATIENCE_S = 300.0
GATE = "MaxStartups 8:100:8\n"
"""A crowd is turned away for certain, and not by chance as with 10:30:100, at eight and not at ten."""
TOOLS = ["tc", "ping", "rdma", "ib_write_bw", "pyverbs"]
PROGRAMS = {
    "sudo": "exit 0\n",
    "ib_write_bw": """\
echo ' 65536      1000             97.50              97.01              0.184'
""",
    "python3": """\
echo x >>{rack}/sent_to_$3
echo '{{"packets": 100, "bytes": 7000000000, "seconds": 1.0}}'
""",
    "cat": """\
case "$1" in
/proc/net/netstat) ;;
/proc/net/snmp6) exit 0 ;;
*) exec /bin/cat "$@" ;;
esac
sent=$(/bin/cat {rack}/sent_to_{address} 2>/dev/null | wc -l)
echo 'IpExt: InNoECTPkts InECT1Pkts InECT0Pkts InCEPkts'
echo "IpExt: 0 0 $((sent * 50)) $((sent / 3 * 10))"
""",
}
"""Half of what two hosts send arrives; of what one sends alone nothing is marked, which comes first."""
_NETWORK = """\
all:
  vars:
    ansible_user: {user}
    ansible_ssh_common_args: -F {config}
    known_hosts_file: {known_hosts}
    experiment_mtu: {mtu}
  children:
    hosts:
      vars: {{rdma_device_kind: card, experiment_interface: eth1}}
      hosts:
{hosts}
    hardware_switches:
      vars:
        switch_platform: sonic
        switch_priorities:
          3: {{dscp: [26], marks: {{from_bytes: 150000, to_bytes: 1500000, probability: 0.1}}}}
      hosts:
{leaves}
"""


def address_of(host: str) -> str:
    """Return the address on the experiment network."""
    return f"10.10.1.{HOSTS.index(host) + 1}"


class RackNode(FakeCardNode):
    """A host as Ansible's module sees it, before provisioning."""

    def __init__(self, root: Path, host: str) -> None:
        super().__init__(root)
        self.host = host
        self.addresses = {"eth1": [address_of(host)]}
        self.replying = {address_of(peer) for peer in HOSTS if peer != host}
        port = "/sys/class/infiniband/mlx5_0/ports/1"
        address = [int(part) for part in address_of(host).split(".")]
        gid = "0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}".format(*address)
        for path, text in {
            "/sys/class/infiniband/mlx5_0/hca_type": CARDS[HOSTS.index(host) * len(CARDS) // len(HOSTS)],
            f"{port}/rate": "100 Gb/sec (4X EDR)",
            f"{port}/state": "4: ACTIVE",
            f"{port}/gids/0": gid,
            f"{port}/gid_attrs/types/0": "RoCE v2",
            "/sys/class/net/eth1/mtu": str(MTU_BYTES),
            "/sys/class/net/eth1/operstate": "up",
        }.items():
            self.write(path, f"{text}\n")

    def facts(self) -> dict[str, Any]:
        """Return the facts that the playbook `preflight` collects."""
        peers = {peer: address_of(peer) for peer in HOSTS if peer != self.host}
        own, files = address_of(self.host), [AGENT, DOOL]
        options = {"tools": TOOLS, "interfaces": ["eth1"], "mac": "", "address": own, "peers": peers}
        return examine(self, {**options, "packet_bytes": MTU_BYTES, "files": files})

    def set_provisioned(self) -> None:
        """Install packages and files, and store the state from before."""
        self.tools |= {"ib_write_bw", "pyverbs"}
        keep(self, [], False)
        own = {"trust": "pcp", "dscp": 26, "priority": 3, "paused": []}
        files = {"/sys/class/net/eth1/mtu": MTU_BYTES}
        establish(self, {"kernel_files": files, "card_priorities": {"eth1": own}}, False)
        deployed = {AGENT: agent_archive(packed_plugins()), DOOL: dool_script().read_bytes()}
        for path, content in deployed.items():
            self.write(path, "")
            self.path(path).write_bytes(content)


class Player:
    """Replaces Ansible: collects the facts of each node, or lists what would be changed."""

    def __init__(self, nodes: dict[str, RackNode]) -> None:
        self.nodes = nodes
        self.orders: list[Order] = []

    def play(self, order: Order, _console: object) -> PlaybookResult:
        self.orders.append(order)
        if order.playbook == "preflight":
            return PlaybookResult(facts={name: self.nodes[name].facts() for name in order.nodes})
        assert order.is_check, "nothing of this rack is changed by Ansible"
        return PlaybookResult(changes={name: [f"mtu eth1: {MTU_BYTES}"] for name in order.nodes})


@dataclass
class FirstRack:
    """The rack, and its inventory."""

    inventory: Path
    known_hosts: Path
    gate: Server
    hosts: dict[str, Server]
    leaves: dict[str, FakeSonic]
    served_leaves: dict[str, ServedSwitch]
    player: Player

    @property
    def requested_profile(self) -> dict[str, Any]:
        """Return the profile of marks that the older leaf's refusal requests."""
        marks = {"ecn": "ecn_all"}
        for colour in ("green", "yellow", "red"):
            marks |= {
                f"wred_{colour}_enable": "true", f"{colour}_min_threshold": "150000",
                f"{colour}_max_threshold": "1500000", f"{colour}_drop_probability": "10",
            }  # fmt: skip
        return {"ROGUE_3": marks}

    @staticmethod
    def default_tables() -> dict[str, Any]:
        """Return the tables of a leaf without settings."""
        return _leaf("202511").tables

    def know_gate_only(self) -> None:
        """Make only the host key of the bastion known."""
        self.known_hosts.write_text(self.gate.known_hosts_line)

    def know_all(self) -> None:
        """Make all host keys known."""
        servers = [self.gate, *self.hosts.values()]
        lines = [each.known_hosts_line for each in servers]
        lines += [each.login.known_hosts[0].read_text() for each in self.served_leaves.values()]
        self.known_hosts.write_text("".join(lines))

    def load_profile(self) -> None:
        """Load the profile that the older leaf's refusal requested (`config load`)."""
        self.leaves["leaf0"].tables["WRED_PROFILE"] = self.requested_profile

    def provision(self) -> None:
        """Provision all nodes."""
        for node in self.player.nodes.values():
            node.set_provisioned()

    def refused_connections(self) -> int:
        """Return the number of connections that the bastion refused."""
        return self.gate.log_text().count("drop connection")


@contextmanager
def first_rack(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FirstRack]:
    """Yield the servers of a rack, whose host keys are still unknown."""
    key = paramiko.ECDSAKey.generate()
    with ExitStack() as stack:
        monkeypatch.setenv("SSH_AUTH_SOCK", stack.enter_context(user_agent(directory, key)))
        gate = stack.enter_context(served_crowd(directory / "gate", key, GATE))
        hosts = {}
        for host in HOSTS:
            programs = _programs(directory, host)
            # Without this user's own settings of the shell, which change the path and take their time.
            environment = f"SetEnv HOME={programs} PATH={programs}:/usr/bin:/bin\n"
            hosts[host] = stack.enter_context(served(directory / host, key, environment))
        leaves = {name: _leaf(build) for name, build in LEAVES.items()}
        served_leaves = {
            name: stack.enter_context(served_switch(directory / name, leaf)) for name, leaf in leaves.items()
        }
        nodes = {host: RackNode(directory / f"memory-{host}", host) for host in HOSTS}
        player = Player(nodes)
        for module in (doctor, provision):
            monkeypatch.setattr(module, "run_playbook", player.play)
        _extend_limits(monkeypatch)
        monkeypatch.setattr(inventory_source, "_CONFIGURATIONS", (str(directory),))
        monkeypatch.setattr(
            "rogue.harness.provisioning.inventory.load_inventory", read_inventory
        )  # Ansible reads it once
        known_hosts = directory / "known_hosts"
        known_hosts.touch()
        rack = FirstRack(directory / "nodes.yaml", known_hosts, gate, hosts, leaves, served_leaves, player)
        _write(rack, directory / "ssh_config")
        yield rack


def _extend_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """All servers of the rack and all who log in share this computer's processors, and Python's one lock.

    A server that twelve ask at once says its first word later here than real ones would.
    """
    monkeypatch.setattr(reach, "REACH_LIMIT_S", PATIENCE_S)
    monkeypatch.setitem(inspect.unwrap(open_switch).__kwdefaults__, "limit_s", PATIENCE_S)


def _programs(directory: Path, host: str) -> Path:
    programs = directory / f"programs-{host}"
    programs.mkdir()
    for name, text in PROGRAMS.items():
        (programs / name).write_text("#!/bin/sh\n" + text.format(rack=directory, address=address_of(host)))
        (programs / name).chmod(0o755)
    return programs


def _leaf(build: str) -> FakeSonic:
    leaf = FakeSonic(build)
    leaf.tables["PORT"] = {f"Ethernet{4 * number}": {"mtu": "9100"} for number in range(PER_LEAF + 1)}
    return leaf


def _write(rack: FirstRack, config: Path) -> None:
    """Write inventory and SSH configuration; all hosts are reached through the bastion."""
    user, port = getpass.getuser(), rack.gate.port
    words = [f"Host bastion\n  HostName 127.0.0.1\n  Port {port}\n  User {user}\n"]
    ports = {name: server.port for name, server in rack.hosts.items()}
    ports |= {name: each.login.port for name, each in rack.served_leaves.items()}
    for name, port in ports.items():
        words.append(f"Host rack-{name}\n  HostName 127.0.0.1\n  Port {port}\n  ProxyJump bastion\n")
    for name, each in rack.served_leaves.items():
        words.append(f"Host rack-{name}\n  IdentityFile {each.login.key_files[0]}\n")
    config.write_text("".join([*words, "Host *\n  IdentityFile /nowhere\n"]))
    hosts = [
        f"        {name}: {{ansible_host: rack-{name}, experiment_address: {address_of(name)}}}"
        for name in HOSTS
    ]
    leaves = [
        f"        {name}: {{ansible_host: rack-{name}, switch_ports: {json.dumps(_ports(name))}}}"
        for name in LEAVES
    ]
    rack.inventory.write_text(
        _NETWORK.format(
            user=user, config=config, known_hosts=rack.known_hosts, mtu=MTU_BYTES,
            hosts="\n".join(hosts), leaves="\n".join(leaves),
        )
    )  # fmt: skip


def _ports(leaf: str) -> list[dict[str, str]]:
    """Return the ports to its hosts and to the other leaf."""
    number = list(LEAVES).index(leaf)
    own = HOSTS[number * PER_LEAF : (number + 1) * PER_LEAF]
    peers = [*own, f"s{1 - number}"]
    return [
        {"bridge": f"s{number}", "interface": f"Ethernet{4 * place}", "peer": peer}
        for place, peer in enumerate(peers)
    ]
