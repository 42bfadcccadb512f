"""Tests on machines: a testbed as it boots, and `rogue testbed up` that is stopped."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rogue.remote.connection import connect
from rogue.virtual import persistent
from rogue.virtual.image.build import Image
from rogue.virtual.persistent import processes

pytestmark = pytest.mark.virtual

LARGEST_PING_BYTES = 4300 - 20 - 8


def test_packets_as_large_as_the_mtu_cross_both_switches(racks: persistent.PersistentTestbed) -> None:
    with connect(racks.logins["h0"]) as host:
        host.run(f"ping -c 3 -i 0.2 -W 10 -M do -s {LARGEST_PING_BYTES} {racks.network.address('h2')}")


def test_path_uses_the_cable_between_the_switches(racks: persistent.PersistentTestbed) -> None:
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


def test_ansible_reaches_machines(racks: persistent.PersistentTestbed) -> None:
    """Use the module `raw`, which needs no Python on the machine."""
    ansible = Path(sys.executable).parent / "ansible"
    command = [ansible, "-i", racks.inventory, "fabric:h0", "-m", "raw", "-a", "hostname", "-o"]
    environment = os.environ | {"ANSIBLE_LOCALHOST_WARNING": "false"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(line.split(" | ")[0] for line in done.stdout.splitlines()) == ["fabric", "h0"]


def start_up(name: str) -> subprocess.Popen[str]:
    """Start `up` and return its process while the machines boot."""
    command = [sys.executable, "-m", "rogue", "testbed", "up", "--hosts", "2", "--name", name]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    while "machines are booting" not in (line := process.stderr.readline()):
        assert line, "it ended before it started machines"
    return process


def nothing_is_left(state_home: Path, name: str) -> bool:
    directory = state_home / "rogue/testbeds" / name
    return processes.find(directory) == {} and list(directory.parent.glob(f"{name}*")) == []


def test_down_after_up_was_killed_leaves_nothing(state_home: Path, image: Image) -> None:
    with start_up("killed") as process:
        process.kill()
    assert set(processes.find(state_home / "rogue/testbeds/killed")) == {"fabric", "h0", "h1"}
    assert persistent.down("killed", lambda text: None) is True
    assert nothing_is_left(state_home, "killed")


def test_up_after_sigterm_leaves_nothing(state_home: Path, image: Image) -> None:
    """SIGTERM is converted to the exception of Ctrl-C first."""
    with start_up("stopped") as process:
        process.send_signal(signal.SIGTERM)
        assert process.stderr
        assert "stopped; nothing of testbed stopped is left" in process.stderr.read()
    assert process.returncode == 128 + signal.SIGTERM
    assert nothing_is_left(state_home, "stopped")
