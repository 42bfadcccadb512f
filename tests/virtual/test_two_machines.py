"""Tests on two machines: their keys, remains of agents, and a machine that does not come up."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.agent_flows import agent
from helpers.running_machines import RunningMachines, pair, running

from rogue.remote.connection import connect
from rogue.remote.errors import NodeError
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.image.build import Image
from rogue.virtual.machines.assembly import Accelerator

pytestmark = pytest.mark.virtual

LEFT = "{ pgrep -f [r]ogue-agent.pyz; find /tmp -name rogue-agent-\\*; } | wc -l"
"""How much there is of agents: other tests may have one there."""


def tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def test_agent_without_connection_leaves_nothing(machines: RunningMachines) -> None:
    """The agent notices the lost connection after a moment; `timeout` limits the wait."""
    login = machines.logins["h1"]
    with connect(login) as watcher:
        before = int(watcher.run(LEFT))
        with agent(login):
            assert int(watcher.run(LEFT)) > before
        watcher.run(f"timeout 60 sh -c 'until [ $({LEFT}) = {before} ]; do busybox usleep 100000; done'")


def test_machine_with_another_key_is_refused(machines: RunningMachines, tmp_path: Path) -> None:
    login, other = machines.logins["h1"], machines.logins["h2"]
    key_of_other = login.known_hosts[0].read_text().splitlines()[1].split(maxsplit=1)[1]
    for line in (f"[127.0.0.1]:{login.port} {key_of_other}\n", f"[127.0.0.1]:{other.port} {key_of_other}\n"):
        (tmp_path / "known_hosts").write_text(line)
        with (
            pytest.raises(NodeError, match="h1: SSH failed"),
            connect(replace(login, known_hosts=(tmp_path / "known_hosts",))),
        ):
            pytest.fail("connected to a machine that did not prove who it is")


def test_machine_that_does_not_boot_shows_its_console(image: Image, accelerator: Accelerator) -> None:
    _, plan = pair(("h3", "h4"))
    bad = replace(plan, links=(replace(plan.links[0], address="10.9.0.999/24"),))
    with pytest.raises(VirtualTestbedError) as caught, running((bad,), image, accelerator, tell):
        pytest.fail("came up with an impossible address")
    assert "machine h4 ended before it was up" in str(caught.value)
    assert "rogue-guest: failed: cannot give eth1 the address 10.9.0.999/24" in str(caught.value)
