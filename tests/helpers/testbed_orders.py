"""Record the orders of a testbed to its engine or nodes for a cell, and the results."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from helpers.fake_agents import TRANSFERS, FakeAgent, FakeSwitch, fake_inventory, fake_node

from rogue.agent.node.messages import Clock
from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Host
from rogue.harness.provisioning.linux_switch import PortSettings
from rogue.harness.testbeds.base import CellResult, Testbed
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.kernel.network import orders_of
from rogue.harness.testbeds.simulator import SimulatorTestbed, network
from rogue.harness.testbeds.ssh import SshTestbed, cell_environment, conduct, nodes, testbed
from rogue.harness.testbeds.ssh import nodes as agents_module
from rogue.harness.testbeds.ssh.nodes import Node
from rogue.simulator import Simulation

ADDRESS = re.compile(r" at 0x[0-9a-f]+")
NOW_NS = 10**9
YARDSTICKS = ("ideal_fct_ns", "slowdown")
"""Columns that are worked out from what was asked, whatever was done."""
FILES = {
    "transfers": TRANSFERS,
    "throughput": b"""\
t_ns,interval_ns,delivered_bytes,cwnd_over_rtt_bps,limiter_bps
1100000000,100000000,9,,
""",
    "rtt": b"""\
t_ns,wr_id,rtt_ns,base_rtt_ns,cwnd_packets,limiter_bps,accepted,reason
1,1,1,1,1,1,1,accepted
""",
    "control": b"t_ns,name,value\n1,alpha,1\n",
}


def refusal(bed: Testbed, cell: Cell) -> str | None:
    """Return why the testbed refuses a cell; None if it does not."""
    mistake = bed.parameter_mistake(cell)
    return f"{mistake.key}: expected {mistake.expected}" if mistake else bed.unsupported(cell)


class Call(NamedTuple):
    """A call of a public method of the engine."""

    name: str
    values: tuple[Any, ...]
    named: Mapping[str, Any]


def engine_calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Return the list to which each call of the simulator's engine is added from now on."""
    calls: list[Call] = []

    class Overheard(Simulation):
        def __getattribute__(self, name: str) -> Any:
            found = super().__getattribute__(name)
            if name.startswith("_") or not callable(found):
                return found

            def call(*values: object, **named: object) -> object:
                calls.append(Call(name, values, named))
                return found(*values, **named)

            return call

    def build(**named: Any) -> Simulation:
        calls.append(Call("Simulation", (), named))
        return Overheard(**named)

    monkeypatch.setattr(network, "Simulation", build)
    return calls


def simulator_orders(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Return calls of the engine, the agents' settings and the tables."""
    calls = engine_calls(monkeypatch)
    result = SimulatorTestbed().run(cell, lambda _fraction: None)
    plain = (ADDRESS.sub("", f"{each.name}{each.values}{each.named}") for each in calls)
    return (*plain, result.raw["settings.json"].decode(), *_measured(result))


def kernel_orders(cell: Cell) -> tuple[str, ...]:
    """Return the orders of the conductor inside, and the tables made of its files."""
    tables = [measure for measure in ("throughput", "latency", "rtt") if cell.experiment.measures(measure)]
    flows = plan_roles(cell)
    return (orders_of(cell, flows).text(), str([flow.carrier for flow in flows]), *tables)


def nodes_of(
    cell: Cell, monkeypatch: pytest.MonkeyPatch, kind: str = "virtual"
) -> tuple[SshTestbed, "Overheard"]:
    """Nodes and a switch with the topology of a cell, and what they hear; kind: the inventory's."""
    heard = Overheard(cell)
    monkeypatch.setattr(agents_module, "open_node", heard.opened)
    monkeypatch.setattr(agents_module, "_kept", {})
    topology = cell.topology
    names = [f"{switch}->{peer}" for switch in topology.switch_names() for peer in topology.links_of[switch]]
    ports = {name: f"eth{index}" for index, name in enumerate(names)}
    inventory = replace(fake_inventory(len(topology.host_names()), ports), kind=kind)
    monkeypatch.setattr(testbed, "load_inventory", lambda _path, is_trusted: inventory)
    monkeypatch.setattr(cell_environment, "SwitchConnection", heard.switch)
    still = SimpleNamespace(monotonic_ns=lambda: NOW_NS, sleep=lambda _seconds: None)
    for module in (conduct, cell_environment, nodes):
        monkeypatch.setattr(module, "time", still)
    return SshTestbed("virtual", Path("inventory.yaml")), heard


class Overheard:
    """Nodes that reply from memory, and a switch."""

    def __init__(self, cell: Cell) -> None:
        self.agents = {host: FakeAgent(now_ns=NOW_NS) for host in cell.topology.host_names()}
        for agent in self.agents.values():
            agent.files = {f"flow{index}-requester": FILES for index in range(16)}
        self.switched: list[str] = []

    @contextmanager
    def opened(self, host: Host) -> Iterator[Node]:
        """In place of a connection over SSH."""
        opened = fake_node(host.name, self.agents.setdefault(host.name, FakeAgent(now_ns=NOW_NS)))
        yield opened
        opened.close()

    def switch(self, inventory: object) -> FakeSwitch:
        """A switch that records its orders."""
        heard = self.switched

        class Switch(FakeSwitch):
            def apply(self, ports: Mapping[str, PortSettings]) -> None:
                heard.append(str(sorted(ports.items(), key=lambda item: item[0])))
                super().apply(ports)

            def cut(self, port: str, *, after_s: float, duration_s: float) -> None:
                heard.append(f"cut {port} {after_s} {duration_s}")

        return Switch(inventory)


@dataclass(frozen=True)
class NodeOrders:
    """Orders and what came of them, and measures that were asked for in vain."""

    orders: tuple[str, ...]
    not_measured: Mapping[str, str]


def node_orders(bed: SshTestbed, heard: Overheard, cell: Cell) -> NodeOrders:
    """Return all orders to agents and the switch, and the tables."""
    result = bed.run(cell, lambda _fraction: None)
    messages = [
        f"{host}: {message}"
        for host, agent in heard.agents.items()
        for message in agent.requests
        if not isinstance(message, Clock)
    ]
    return NodeOrders((*messages, *heard.switched, *_measured(result)), result.not_measured)


def _measured(result: CellResult) -> list[str]:
    """Tables, and what was asked for and is not there."""
    tables = {
        name: {column: list(values) for column, values in table.items() if column not in YARDSTICKS}
        for name, table in result.tables.items()
    }
    return [str(tables), str(result.not_measured), str(result.failure), str(result.facts.get("warm_up_ns"))]
