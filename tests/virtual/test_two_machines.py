"""Real verbs end to end: two machines, soft-RoCE, the shipped agent."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.agent_transfer import (
    ROLE,
    STEP_LIMIT_MS,
    Order,
    TransferEnd,
    agent,
    move,
    prepare_request,
    start,
)
from helpers.running_machines import RunningMachines, running

from rogue.agent.node.messages import Connect, Connected, Prepared, Result, Results
from rogue.remote.errors import NodeError
from rogue.remote.shell import connect
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.cache import Image
from rogue.virtual.machines.plan import pair
from rogue.virtual.machines.qemu import Accelerator

pytestmark = pytest.mark.virtual

SIZE_BYTES = 64 * 2**20
SEGMENT_BYTES = 65_536
ZEROS_SHA256 = "3b6a07d0d404fab4e23b6d34bc6696a6a312dd92821332385e5af7c01c421351"


def ends(machines: RunningMachines) -> tuple[TransferEnd, TransferEnd]:
    return TransferEnd(machines.logins["h1"], "10.9.0.1"), TransferEnd(machines.logins["h2"], "10.9.0.2")


def tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def test_rogue_moves_64_mib_unchanged(machines: RunningMachines) -> None:
    moved = move(*ends(machines), Order(SIZE_BYTES, "rogue", fill_seed=7))
    assert (moved.sent.status, moved.sent.error) == ("ok", None)
    assert moved.sent.sha256 == moved.received.sha256 != ZEROS_SHA256
    assert moved.sent.batches == SIZE_BYTES // SEGMENT_BYTES == len(moved.samples)
    assert any(sample["accepted"] == "1" for sample in moved.samples)
    assert (moved.requester.completions, moved.requester.clock) == ("event", "host")


def test_native_roce_moves_64_mib_unchanged(machines: RunningMachines) -> None:
    moved = move(*ends(machines), Order(SIZE_BYTES, "roce", fill_seed=8))
    assert moved.sent.status == "ok"
    assert moved.sent.sha256 == moved.received.sha256 != ZEROS_SHA256
    assert moved.sent.batches == SIZE_BYTES // 2**20
    assert moved.samples == []


def test_a_flow_is_cut_off_at_its_time_limit(machines: RunningMachines) -> None:
    moved = move(*ends(machines), Order(SIZE_BYTES, "rogue", fill_seed=9, time_limit_ms=50))
    assert moved.sent.status == "unfinished"
    assert 0 < moved.sent.batches < SIZE_BYTES // SEGMENT_BYTES
    assert moved.sent.sha256 != moved.received.sha256


def test_a_peer_that_does_not_reply_fails_the_queue_pair(machines: RunningMachines) -> None:
    source, destination = ends(machines)
    order = Order(2**20, "roce", fill_seed=10, parameters={"retry_count": 1})
    with agent(source.login) as (_, requester), agent(destination.login) as (_, responder):
        requester.request(prepare_request(source, order, "requester"), Prepared)
        there = responder.request(prepare_request(destination, order, "responder"), Prepared)
        requester.request(Connect(ROLE, STEP_LIMIT_MS, there), Connected)
        start(requester, order)
        sent = requester.request(Result(ROLE, STEP_LIMIT_MS), Results)
    assert (sent.status, sent.error) == ("error", "IBV_WC_RETRY_EXC_ERR")


def test_agents_leave_nothing_on_the_machines(machines: RunningMachines) -> None:
    for login in machines.logins.values():
        with connect(login) as connection:
            # An agent whose connection was dropped needs a moment to see it; `timeout` bounds the wait.
            connection.run(
                "timeout 60 sh -c 'while pgrep -f [r]ogue-agent.pyz; do busybox usleep 100000; done'"
            )
            assert connection.run("find /tmp -name 'rogue-agent-*'") == ""


def test_a_machine_with_another_key_is_refused(machines: RunningMachines, tmp_path: Path) -> None:
    login, other = machines.logins["h1"], machines.logins["h2"]
    key_of_other = login.known_hosts[0].read_text().splitlines()[1].split(maxsplit=1)[1]
    for line in (f"[127.0.0.1]:{login.port} {key_of_other}\n", f"[127.0.0.1]:{other.port} {key_of_other}\n"):
        (tmp_path / "known_hosts").write_text(line)
        with (
            pytest.raises(NodeError, match="h1: SSH failed"),
            connect(replace(login, known_hosts=(tmp_path / "known_hosts",))),
        ):
            pytest.fail("connected to a machine that did not prove who it is")


def test_a_machine_that_does_not_come_up_is_reported_with_its_console(
    image: Image, accelerator: Accelerator
) -> None:
    good, other = pair(("h3", "h4"))
    bad = replace(other, links=(replace(other.links[0], address="10.9.0.999/24"),))
    with pytest.raises(VirtualTestbedError) as caught, running((good, bad), image, accelerator, tell):
        pytest.fail("came up with an impossible address")
    assert "machine h4 ended before it was up" in str(caught.value)
    assert "rogue-guest: failed: cannot give eth1 the address 10.9.0.999/24" in str(caught.value)
