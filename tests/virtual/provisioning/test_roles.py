"""Every role on machines: what it changes, that it changes it once, and that it puts everything back."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from rogue.agent.node.bundle import agent_archive
from rogue.harness.provisioning import provision as provisioning
from rogue.harness.provisioning.doctor import examine
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.linux_switch import PortSettings, SwitchConnection
from rogue.harness.provisioning.provision import provision, teardown
from rogue.remote.connection import connect
from rogue.remote.errors import NodeError
from rogue.virtual import persistent
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.network import network
from rogue.virtual.persistent import processes

pytestmark = [pytest.mark.virtual, pytest.mark.long]

CONSOLE = Console(file=io.StringIO())
HUNDRED_MBPS = PortSettings(rate_bps=100_000_000, queue_bytes=1_500_000)
# Everything that a role may touch, as text.
STATE = """\
lsmod | cut -d' ' -f1 | sort
sysctl net.ipv4 net.core 2>/dev/null | grep -v conntrack
ip -o link | sed 's/ qlen .*//; s/^[0-9]*: //'
for interface in $(ls /sys/class/net | grep -v lo); do
  echo "$interface"
  tc qdisc show dev "$interface" | sed 's/ refcnt [0-9]*//'
  tc class show dev "$interface"
  tc filter show dev "$interface"
done
rdma link
find /opt /etc /var/lib/rogue -type f -exec sha256sum {} + 2>/dev/null | sort
find /opt /etc /var/lib/rogue -printf '%p %m\\n' 2>/dev/null | sort
dpkg-query --show
"""


@dataclass
class Nodes:
    """Machines that are up, to be provisioned."""

    testbed: persistent.PersistentTestbed
    inventory: Inventory
    log: Path

    def provision(
        self, ports: dict[str, PortSettings] | None = None, *, is_check: bool = False
    ) -> dict[str, list[str]]:
        """Return what was or would be changed, by node."""
        return provision(self.inventory, ports or {}, self.log, CONSOLE, is_check=is_check).changes

    def teardown(self) -> dict[str, list[str]]:
        """Return what was restored, by node."""
        return teardown(self.inventory, self.log, CONSOLE).changes

    def findings(self) -> list[str]:
        """Return the findings of the doctor."""
        return [str(finding) for finding in examine(self.inventory, self.log, CONSOLE)]

    def run(self, node: str, command: str) -> str:
        """Run a command on a node."""
        login = next(login for login in self.inventory.logins if login.node == node)
        with connect(login) as shell:
            return shell.run(command)

    def state(self) -> dict[str, list[str]]:
        """Return everything that a role may change, by node."""
        return {login.node: self.run(login.node, STATE).splitlines() for login in self.inventory.logins}


@pytest.fixture
def same_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the agent's archive, so that edits during the test change nothing."""
    archive = agent_archive()
    monkeypatch.setattr(provisioning, "agent_archive", lambda _plugins=None: archive)


@pytest.fixture
def nodes(
    same_agent: None, image: Image, accelerator: Accelerator, state_home: Path, tmp_path: Path
) -> Iterator[Nodes]:
    """Boot two hosts and a switch."""
    requested = network(("h0", "h1"), ("s0",), (("h0", "s0"), ("h1", "s0")))
    testbed = persistent.up("roles", requested, image, accelerator, lambda text: None)
    try:
        up = Nodes(testbed, load_inventory(testbed.inventory), tmp_path / "log")
        up.state()  # looking at RDMA links loads ib_core
        yield up
    finally:
        persistent.down("roles", lambda text: None)


ECN, MTU = "kernel_files /proc/sys/net/ipv4/tcp_ecn", "kernel_files /sys/class/net/eth1/mtu"
UNPACK = "agent: Unpack and compile the agent, so that it starts without compiling itself"
"""A command, which check mode skips."""


def test_provisioning_changes_a_node_once_and_teardown_restores_everything(nodes: Nodes) -> None:
    before = nodes.state()
    would = nodes.provision(is_check=True)
    assert nodes.state() == before, "--check changes nothing"
    done = nodes.provision()
    assert set(done) == {"h0", "h1", "fabric"}
    for node, changes in done.items():
        assert set(would[node]) == set(changes) - {UNPACK}, "--check says what will be changed"
    assert nodes.provision() == {}, "a second run changes nothing"
    assert nodes.provision(is_check=True) == {}
    assert nodes.findings() == []
    assert set(nodes.teardown()) == set(done)
    assert nodes.state() == before
    assert nodes.teardown() == {}


def test_teardown_restores_what_an_interrupted_provisioning_left(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = nodes.state()
    monkeypatch.setattr(provisioning, "dool_script", lambda: Path("/nowhere"))
    with pytest.raises(NodeError, match="monitoring: Copy dool"):
        nodes.provision()
    assert nodes.state() != before
    nodes.teardown()
    assert nodes.state() == before


def test_doctor_names_faults_and_provisioning_heals_them(nodes: Nodes) -> None:
    assert any("h0: state: got a node that is not provisioned" in text for text in nodes.findings())
    nodes.provision()
    nodes.run("h0", "ip link set dev eth1 mtu 1400; sysctl -q -w net.ipv4.tcp_ecn=0")
    nodes.run("h1", "echo '#' >>/opt/rogue/rogue-agent.pyz; tc qdisc del dev eth1 root")
    nodes.run("h1", "cp /bin/sleep /tmp/rogue-agent.pyz")
    nodes.run("h1", "setsid /tmp/rogue-agent.pyz 600 >/dev/null 2>&1 & echo $! >/tmp/left")
    nodes.run("fabric", "ethtool -K eth2 gro off")
    text = "\n".join(nodes.findings())
    for expected in (
        "h0: MTU of eth1: got 1400, expected 4300",
        f"h0: {ECN}: got something else",
        "h0: path to h1 over the experiment network: got none, expected replies to packets of 4300 bytes",
        "h1: /opt/rogue/rogue-agent.pyz: got a file with SHA-256",
        "h1: traffic_control eth1: got something else",
        "h1: processes: got `",
        "fabric: GRO of eth2: got off",
    ):
        assert f"refused: {expected}" in text
    nodes.run("h1", "kill $(cat /tmp/left)")
    nodes.run("fabric", "ethtool -K eth2 gro on")
    assert nodes.provision() == {
        "h0": [MTU, ECN],
        "h1": ["traffic_control eth1", "agent: Copy the agent"],
    }
    assert nodes.findings() == []


def test_settings_lost_by_a_reboot_are_named_and_provisioned_once(nodes: Nodes) -> None:
    """These machines lose everything at a reboot, so the test removes the settings instead."""
    before = nodes.state()
    done = nodes.provision()
    nodes.run("h0", "rdma link delete rxe0; modprobe -r rdma_rxe; tc qdisc del dev eth1 root")
    nodes.run("h0", "sysctl -q -w net.ipv4.tcp_ecn=2")
    forgotten = {"soft_roce eth1", ECN, "traffic_control eth1"}
    assert forgotten <= set(done["h0"])
    modules = {f"kernel module {name}" for name in ("ib_uverbs", "rdma_rxe")}
    text = "\n".join(nodes.findings())
    assert [
        name for name in sorted(forgotten | modules) if f"refused: h0: {name}: got something else" not in text
    ] == []
    loading = "kernel_modules: Load modules now"
    assert {node: set(changes) for node, changes in nodes.provision().items()} == {
        "h0": {*forgotten, loading}
    }
    assert nodes.findings() == []
    nodes.teardown()
    assert nodes.state() == before


def test_ports_of_an_experiment_and_of_a_cell(nodes: Nodes) -> None:
    nodes.provision({"s0->h1": HUNDRED_MBPS})
    assert "rate 100Mbit" in nodes.run("fabric", "tc class show dev eth2")
    with SwitchConnection(nodes.inventory) as switch:
        switch.apply({"s0->h1": PortSettings(delay_ns=5_000_000, loss_probability=0.2)})
        nodes.run("h0", "ping -q -i 0.02 -c 100 10.9.0.11")
        counted = switch.counters()["s0->h1"]
    assert counted.sent_packets + counted.lost_packets >= 100
    assert counted.lost_packets > 0
    assert counted.dropped_packets == 0
    assert nodes.findings() == [], "a cell's ports are no leftovers"
    assert nodes.provision({"s0->h1": HUNDRED_MBPS}) == {"fabric": ["traffic_control eth2"]}
    nodes.teardown()
    assert nodes.run("fabric", "tc qdisc show dev eth2").startswith("qdisc fq_codel 0:")


def test_limiter_limits_its_traffic_class(nodes: Nodes) -> None:
    nodes.provision()
    limit = "rate 20mbit ceil 20mbit burst 32000 cburst 32000 quantum 10000"
    nodes.run("h0", f"tc class change dev eth1 parent 1: classid 1:13 htb {limit}")
    rates = {}
    for priority in (3, 4):
        nodes.run("h1", "ib_write_bw -d rxe0 -x 1 -s 65536 -t 8 -D 4 -F >/dev/null 2>&1 & sleep 3")
        traffic_class = priority << 5 | 2
        options = f"-d rxe0 -x 1 -s 65536 -t 8 -D 4 -F --tclass={traffic_class} --report_gbits"
        said = nodes.run("h0", f"ib_write_bw {options} 10.9.0.11")
        (row,) = [line.split() for line in said.splitlines() if line.strip().startswith("65536")]
        rates[priority] = float(row[3]) * 1e9
    assert 10e6 < rates[3] <= 21e6
    assert rates[4] > 1.5 * rates[3]


def test_node_without_power_is_named_and_the_others_restored(nodes: Nodes) -> None:
    before = nodes.state()
    nodes.provision()
    processes.end(nodes.testbed.directory, "h1")
    with pytest.raises(NodeError) as failed:
        nodes.teardown()
    assert "teardown: failed on 1 nodes" in str(failed.value)
    assert "h1: before anything: SSH failed: " in str(failed.value)
    assert any("refused: h1: the node: got SSH failed: " in text for text in nodes.findings())
    assert nodes.run("h0", STATE).splitlines() == before["h0"]
    assert nodes.run("fabric", STATE).splitlines() == before["fabric"]
