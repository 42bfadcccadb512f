"""A testbed that stays up, as it boots: its network, what is on its machines, its inventory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rogue.remote.connection import connect
from rogue.virtual import persistent

pytestmark = pytest.mark.virtual

LARGEST_PING_BYTES = 4300 - 20 - 8


def test_packets_as_large_as_the_mtu_cross_both_switches(racks: persistent.PersistentTestbed) -> None:
    with connect(racks.logins["h0"]) as host:
        host.run(f"ping -c 3 -i 0.2 -W 10 -M do -s {LARGEST_PING_BYTES} {racks.network.address('h2')}")


def test_the_way_leads_through_the_cable_between_the_switches(racks: persistent.PersistentTestbed) -> None:
    with connect(racks.logins["h0"]) as host, connect(racks.logins["fabric"]) as fabric:
        fabric.run("ip link set dev s0-s1 down")
        with pytest.raises(Exception, match="100% packet loss"):
            host.run(f"ping -c 1 -W 2 {racks.network.address('h2')}")
        fabric.run("ip link set dev s0-s1 up")
        host.run(f"ping -c 1 -w 30 {racks.network.address('h2')}")


def test_the_switching_machine_merges_segments(racks: persistent.PersistentTestbed) -> None:
    """Without generic receive offload RED drops ECN-capable packets instead of marking them."""
    with connect(racks.logins["fabric"]) as fabric:
        assert "generic-receive-offload: on" in fabric.run("ethtool -k eth1")


def test_hosts_have_what_provisioning_needs(racks: persistent.PersistentTestbed) -> None:
    with connect(racks.logins["h0"]) as host:
        assert host.run("rdma link") == ""
        host.run("modprobe -a rdma_rxe tcp_dctcp sch_htb sch_red sch_netem cls_flower cls_u32 act_gact")
        host.run("python3 -c 'import apt, pyverbs.device'")
        host.run("command -v iperf3 tcpdump ib_write_bw ibv_devinfo ethtool tc")


def test_every_machine_is_well(racks: persistent.PersistentTestbed) -> None:
    states = persistent.machine_states(racks)
    assert [state.machine for state in states] == ["fabric", *racks.network.hosts]
    assert all(state.is_well for state in states)
    assert all(state.uptime_s and state.host_memory_bytes < 800 * 2**20 for state in states)


def test_ansible_itself_reaches_machines(racks: persistent.PersistentTestbed) -> None:
    """A host and the machine that switches, without Python, which provisioning needs there anyway."""
    ansible = Path(sys.executable).parent / "ansible"
    command = [ansible, "-i", racks.inventory, "fabric:h0", "-m", "raw", "-a", "hostname", "-o"]
    environment = os.environ | {"ANSIBLE_LOCALHOST_WARNING": "false"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line.split(" | ")[0] for line in done.stdout.splitlines()) == ["fabric", "h0"]
