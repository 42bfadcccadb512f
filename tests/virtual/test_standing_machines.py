"""A testbed that stays up, with real machines: its network, its inventory, and crashes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rogue.remote.shell import connect
from rogue.virtual import standing
from rogue.virtual.image.cache import Image
from rogue.virtual.machines.qemu import Accelerator
from rogue.virtual.network import network
from rogue.virtual.standing import processes

pytestmark = pytest.mark.virtual

DUMBBELL = network(["h0", "h1"], ["s0", "s1"], [("h0", "s0"), ("h1", "s1"), ("s0", "s1")])
LARGEST_PING_BYTES = 4300 - 20 - 8


def tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


@pytest.fixture(scope="module")
def dumbbell(state_home: Path, image: Image, accelerator: Accelerator) -> Iterator[standing.StandingTestbed]:
    """Two hosts with two switches between them."""
    yield standing.up("dumbbell", DUMBBELL, image, accelerator, tell)
    standing.down("dumbbell", tell)


def nothing_is_left(state_home: Path, name: str) -> bool:
    directory = state_home / "rogue/testbeds" / name
    return processes.find(directory) == {} and list(directory.parent.glob(f"{name}*")) == []


def start_up(name: str) -> subprocess.Popen[str]:
    """`rogue testbed up` in a process of its own, at the moment when its machines boot."""
    command = [sys.executable, "-m", "rogue", "testbed", "up", "--hosts", "2", "--name", name]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    while "machines are booting" not in (line := process.stderr.readline()):
        assert line, "it ended before it started machines"
    return process


def test_packets_as_large_as_the_mtu_cross_both_switches(dumbbell: standing.StandingTestbed) -> None:
    with connect(dumbbell.logins["h0"]) as host:
        host.run(f"ping -c 3 -i 0.2 -W 10 -M do -s {LARGEST_PING_BYTES} {DUMBBELL.address('h1')}")


def test_the_way_leads_through_the_cable_between_the_switches(dumbbell: standing.StandingTestbed) -> None:
    with connect(dumbbell.logins["h0"]) as host, connect(dumbbell.logins["fabric"]) as fabric:
        fabric.run("ip link set dev s0-s1 down")
        with pytest.raises(Exception, match="100% packet loss"):
            host.run(f"ping -c 1 -W 2 {DUMBBELL.address('h1')}")
        fabric.run("ip link set dev s0-s1 up")
        host.run(f"ping -c 1 -w 30 {DUMBBELL.address('h1')}")


def test_the_switching_machine_merges_segments(dumbbell: standing.StandingTestbed) -> None:
    """Without generic receive offload RED drops ECN-capable packets instead of marking them."""
    with connect(dumbbell.logins["fabric"]) as fabric:
        assert "generic-receive-offload: on" in fabric.run("ethtool -k eth1")


def test_hosts_have_what_provisioning_needs(dumbbell: standing.StandingTestbed) -> None:
    with connect(dumbbell.logins["h0"]) as host:
        assert host.run("rdma link") == ""
        host.run("modprobe -a rdma_rxe tcp_dctcp sch_htb sch_red sch_netem cls_flower cls_u32 act_gact")
        host.run("python3 -c 'import apt, pyverbs.device'")
        host.run("command -v iperf3 tcpdump ib_write_bw ibv_devinfo ethtool tc")


def test_every_machine_is_well(dumbbell: standing.StandingTestbed) -> None:
    states = standing.machine_states(dumbbell)
    assert [state.machine for state in states] == ["fabric", "h0", "h1"]
    assert all(state.is_well for state in states)
    assert all(state.uptime_s and state.host_memory_bytes < 800 * 2**20 for state in states)


def test_ansible_reaches_every_machine(dumbbell: standing.StandingTestbed) -> None:
    ansible = Path(sys.executable).parent / "ansible"
    done = subprocess.run(
        [ansible, "-i", dumbbell.inventory, "all", "-m", "ping", "-t", dumbbell.directory / "replies"],
        env=os.environ | {"ANSIBLE_LOCALHOST_WARNING": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    replies = {path.name: json.loads(path.read_text()) for path in (dumbbell.directory / "replies").iterdir()}
    assert {name: reply["ping"] for name, reply in replies.items()} == {
        "fabric": "pong",
        "h0": "pong",
        "h1": "pong",
    }


def test_a_machine_that_was_killed_is_missed_and_down_leaves_nothing(
    dumbbell: standing.StandingTestbed, state_home: Path
) -> None:
    processes.end(dumbbell.directory, "h1")  # kill -9, and nothing else
    states = {state.machine: state for state in standing.machine_states(dumbbell)}
    assert [states[name].is_well for name in ("fabric", "h0", "h1")] == [True, True, False]
    assert standing.down("dumbbell", tell) is True
    assert nothing_is_left(state_home, "dumbbell")


def test_down_after_up_was_killed_leaves_nothing(state_home: Path, image: Image) -> None:
    with start_up("killed") as process:
        process.kill()
    assert set(processes.find(state_home / "rogue/testbeds/killed")) == {"fabric", "h0", "h1"}
    assert standing.down("killed", tell) is True
    assert nothing_is_left(state_home, "killed")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_that_is_asked_to_stop_leaves_nothing(
    state_home: Path, image: Image, number: signal.Signals
) -> None:
    with start_up("stopped") as process:
        process.send_signal(number)
        assert process.stderr
        assert "stopped; nothing of testbed stopped is left" in process.stderr.read()
    assert process.returncode == 128 + number
    assert nothing_is_left(state_home, "stopped")
