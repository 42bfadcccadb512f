"""The end of the network that was lent: put back, a machine killed, and nothing left."""

import pytest
from helpers.real_rogue import call

from rogue.remote.connection import connect
from rogue.virtual import persistent
from rogue.virtual.persistent import processes

pytestmark = pytest.mark.virtual


def test_teardown_restores_nodes(provisioned: persistent.PersistentTestbed) -> None:
    """provisioning/test_roles.py compares every file and sysctl."""
    call("teardown", f"virtual:{provisioned.name}")
    for host in provisioned.network.hosts:
        with connect(provisioned.logins[host]) as shell:
            assert shell.run("rdma link; tc qdisc show dev eth1 | grep htb; ls /opt | grep rogue; true") == ""


def test_killed_machine_is_reported_and_down_leaves_nothing(
    racks: persistent.PersistentTestbed,
) -> None:
    processes.end(racks.directory, "h1")  # kill -9, and nothing else
    states = {state.machine: state for state in persistent.machine_states(racks)}
    assert [name for name, state in states.items() if not state.is_well] == ["h1"]
    call("testbed", "down", "--name", racks.name)
    assert processes.find(racks.directory) == {}
    assert not list(racks.directory.parent.glob(f"{racks.name}*"))
