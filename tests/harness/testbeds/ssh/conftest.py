"""Nodes and a switch that reply from memory, in place of those that SSH would reach."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from helpers.experiments import cell_of
from helpers.fake_agents import TRANSFERS, FakeAgent, FakeSwitch, fake_inventory, fake_node

from rogue.harness.provisioning.inventory import Host
from rogue.harness.testbeds.base import CellResult
from rogue.harness.testbeds.ssh import SshTestbed, cell_environment, conduct, testbed
from rogue.harness.testbeds.ssh import nodes as agents_module
from rogue.harness.testbeds.ssh.nodes import Node

Run = Callable[..., CellResult]


@pytest.fixture
def agents(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeAgent]:
    """Four hosts and the switch machine; h0 and h1 have sent one transfer each."""
    everybody = {name: FakeAgent(now_ns=10**9) for name in ("h0", "h1", "h2", "h3", "fabric")}

    @contextmanager
    def opened(host: Host) -> Iterator[Node]:
        node = fake_node(host.name, everybody[host.name])
        yield node
        node.close()

    monkeypatch.setattr(agents_module, "open_node", opened)
    monkeypatch.setattr(agents_module, "_kept", {})
    monkeypatch.setattr(testbed, "load_inventory", lambda _path, is_trusted: fake_inventory())
    monkeypatch.setattr(cell_environment, "SwitchConnection", FakeSwitch)
    monkeypatch.setattr(conduct, "HEARTBEAT_S", 0.0)
    for sender, flow in (("h0", "flow0"), ("h1", "flow1")):
        everybody[sender].files = {f"{flow}-requester": {"transfers": TRANSFERS, "log": b"all is well"}}
    return everybody


@pytest.fixture
def run(agents: dict[str, FakeAgent], tmp_path: Path) -> Run:
    """Run a small cell on them."""
    assert agents

    def run_cell(*settings: str) -> CellResult:
        cell = cell_of(tmp_path, "topology.rate=100Mbps", *settings)
        bed = SshTestbed("virtual", tmp_path)
        assert bed.unsupported(cell) is None
        return bed.run(cell, lambda _fraction: None)

    return run_cell
