"""A failure of a node ends the running cell with the right failure kind, and no other cell."""

import io
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from helpers.real_rogue import Running, call

from rogue.harness.errors import ExitCode
from rogue.harness.results.run_directory import read_manifest
from rogue.remote.connection import Connection, connect
from rogue.virtual import persistent
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator
from rogue.virtual.persistent import processes

pytestmark = [pytest.mark.virtual, pytest.mark.long]

NAME = "chaos"
INVENTORY = f"virtual:{NAME}"
EXPERIMENT = """
name: chaos
topology: {kind: star, hosts: 2, rate: 100Mbps, mtu: 4096}
workload: {kind: incast, senders: 1, size: 500KB, repeat_for: 15s}
transports: [roce]
repetitions: 2
measure: [throughput]
"""
AGENT = "/opt/rogue/rogue-agent.pyz"
LIAR = r"import sys; sys.stdin.readline(); print(chr(0) * 80 + chr(0x2603), flush=True); sys.stdin.read()"
SPOOL = "/var/lib/rogue/spool"
DISK_BYTES = 64_000_000
"""More than the doctor wants to be free, and little enough for a machine whose disk is memory."""
HOUR_S = 3600
PATIENCE_S = 300.0
"""A doctor looks at the nodes first, and agents start; on a busy computer."""
Blow = Callable[[persistent.PersistentTestbed], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def nodes(state_home: Path, image: Image, accelerator: Accelerator) -> Iterator[persistent.PersistentTestbed]:
    """Boot and provision two hosts."""
    call("testbed", "up", "--hosts", "2", "--name", NAME)
    call("provision", INVENTORY)
    testbed = persistent.find(NAME)
    with connect(testbed.logins["h0"]) as host:
        host.run(f"mount -t tmpfs -o size={DISK_BYTES},mode=755 tmpfs {SPOOL}")
    yield testbed
    call("testbed", "down", "--name", NAME)


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Write an experiment with two repetitions of one flow, long enough for a fault on a busy computer."""
    file = tmp_path / "chaos.yaml"
    file.write_text(EXPERIMENT)
    return file


def wait_for_traffic(nodes: persistent.PersistentTestbed) -> None:
    """Wait until the switch has got half a megabyte from h0."""
    counter = "/sys/class/net/eth1/statistics/rx_bytes"
    with connect(nodes.logins["fabric"], limit_s=PATIENCE_S) as fabric:
        fabric.run(
            f"timeout {PATIENCE_S} sh -c 'enough=$(( $(cat {counter}) + 500000 )); "
            f"until [ $(cat {counter}) -gt $enough ]; do busybox usleep 50000; done'",
            limit_s=PATIENCE_S,
        )


def nothing_runs_on(host: Connection) -> None:
    """Wait until no process and no file of the agent is left; `timeout` bounds the wait."""
    host.run("timeout 100 sh -c 'while pgrep -f [r]ogue-agent.pyz; do busybox usleep 100000; done'")
    assert host.run(f"find /tmp {SPOOL} -name 'rogue-agent-*'") == ""


@contextmanager
def agent_killed(nodes: persistent.PersistentTestbed) -> Iterator[None]:
    with connect(nodes.logins["h0"]) as host:
        host.run("pkill -KILL -o -f '[r]ogue-agent.pyz'")
        yield


@contextmanager
def every_process_killed(nodes: persistent.PersistentTestbed) -> Iterator[None]:
    """Kill also the process that would clean up."""
    with connect(nodes.logins["h0"]) as host:
        host.run("pkill -KILL -f '[r]ogue-agent.pyz'")
        yield


@contextmanager
def connection_dropped(nodes: persistent.PersistentTestbed) -> Iterator[None]:
    with connect(nodes.logins["h0"]) as host:
        kill = "busybox usleep 300000; pkill -KILL -f '^sshd: root'"
        host.run(f'setsid sh -c "{kill}" >/dev/null 2>&1 </dev/null &')
    yield


@contextmanager
def disk_full(nodes: persistent.PersistentTestbed) -> Iterator[None]:
    with connect(nodes.logins["h0"]) as host:
        host.run(f"head -c {DISK_BYTES} /dev/zero >{SPOOL}/full 2>/dev/null || true")
        yield
        host.run(f"rm {SPOOL}/full")


@contextmanager
def machine_frozen(nodes: persistent.PersistentTestbed) -> Iterator[None]:
    machine = processes.find(nodes.directory)["h0"]
    os.kill(machine, signal.SIGSTOP)
    yield
    os.kill(machine, signal.SIGCONT)


@pytest.mark.parametrize(
    ("blow", "kind"),
    [
        (agent_killed, "agent"),
        (every_process_killed, "agent"),
        (connection_dropped, "node_lost"),
        (disk_full, "out_of_space"),
        (machine_frozen, "node_lost"),
    ],
)
def test_fault_ends_its_cell_only(
    nodes: persistent.PersistentTestbed, experiment: Path, tmp_path: Path, blow: Blow, kind: str
) -> None:
    run = Running(str(experiment), "--testbed", INVENTORY, "--out", str(tmp_path))
    try:
        wait_for_traffic(nodes)
        with blow(nodes):
            run.wait_for_cell(1)
        code, directory = run.finish()
    finally:
        run.kill()
    struck, next_one = read_manifest(directory).cells
    assert (struck.status, struck.failure_kind) == ("failed", kind), struck.message
    assert "h0" in (struck.message or ""), "the node is not named"
    assert next_one.status == "ok", next_one.message
    assert code == ExitCode.CELLS_FAILED
    call("verify", str(directory))
    for name in ("h0", "h1"):
        with connect(nodes.logins[name], limit_s=PATIENCE_S) as host:
            nothing_runs_on(host)


@contextmanager
def clock_an_hour_ahead(host: Connection) -> Iterator[None]:
    host.run(f"date -s '{HOUR_S} seconds'")
    yield
    host.run(f"date -s '-{HOUR_S} seconds'")


def test_clock_jump_moves_no_measurement(
    nodes: persistent.PersistentTestbed, experiment: Path, tmp_path: Path
) -> None:
    """Agents measure with a monotonic clock."""
    run = Running(str(experiment), "--testbed", INVENTORY, "--out", str(tmp_path), "--set", "repetitions=1")
    try:
        wait_for_traffic(nodes)
        with connect(nodes.logins["h0"]) as host, clock_an_hour_ahead(host):
            run.wait_for_cell(1)
        code, directory = run.finish()
    finally:
        run.kill()
    assert code == ExitCode.OK
    (cell,) = read_manifest(directory).cells
    assert cell.status == "ok"


@contextmanager
def lying_agent(host: Connection) -> Iterator[None]:
    host.run(f"mv {AGENT} {AGENT}.kept")
    host.sftp().putfo(io.BytesIO(LIAR.encode()), AGENT)
    yield
    host.run(f"mv {AGENT}.kept {AGENT}")


def test_garbage_from_a_node_fails_its_cells_only(
    nodes: persistent.PersistentTestbed, experiment: Path, tmp_path: Path
) -> None:
    """Agents stay from cell to cell, so the present one is killed to start the one that sends garbage."""
    run = Running(str(experiment), "--testbed", INVENTORY, "--out", str(tmp_path), "--set", "repetitions=3")
    try:
        run.wait_for_cell(1)
        wait_for_traffic(nodes)
        with connect(nodes.logins["h1"]) as host, lying_agent(host):
            host.run("pkill -KILL -f '[r]ogue-agent.pyz'")
            run.wait_for_cell(3)
        code, directory = run.finish()
    finally:
        run.kill()
    good, killed, lied_to = read_manifest(directory).cells
    assert good.status == "ok", good.message
    assert (killed.status, killed.failure_kind) == ("failed", "agent"), killed.message
    assert (lied_to.status, lied_to.failure_kind) == ("failed", "agent"), lied_to.message
    assert "h1: the agent's reply to hello: " in (lied_to.message or "")
    assert code == ExitCode.CELLS_FAILED
    call("run", "--resume", str(directory), "--only-failed")
    assert [cell.status for cell in read_manifest(directory).cells] == ["ok", "ok", "ok"]


def test_machine_without_power_loses_no_finished_result(
    nodes: persistent.PersistentTestbed, experiment: Path, tmp_path: Path
) -> None:
    """This test is the last one, because the machine is gone afterwards."""
    run = Running(str(experiment), "--testbed", INVENTORY, "--out", str(tmp_path))
    try:
        run.wait_for_cell(1)
        wait_for_traffic(nodes)
        processes.end(nodes.directory, "h0")
        code, directory = run.finish()
    finally:
        run.kill()
    good, bad = read_manifest(directory).cells
    assert good.status == "ok"
    assert (bad.status, bad.failure_kind) == ("failed", "node_lost"), bad.message
    assert code == ExitCode.CELLS_FAILED
    assert (directory / "report.html").exists()
    call("verify", str(directory))
    with connect(nodes.logins["h1"]) as host:
        nothing_runs_on(host)
    call("testbed", "status", "--name", NAME, code=ExitCode.TESTBED)
