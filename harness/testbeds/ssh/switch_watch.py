"""Watch the packets of a cell at the switch machine: record them, and carry out packet events."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from rogue.agent.node.fields import MessageError, integer, many
from rogue.agent.node.messages import (
    ORDERS_PART_MAX,
    SWITCH_ROLE,
    EndRole,
    Prepared,
    Result,
    Results,
    RoleEnded,
    Start,
    Started,
    Watch,
    Watching,
)
from rogue.agent.node.packet_watch import Watched
from rogue.harness.cell.cell import Cell
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.harness.testbeds.ends.packets import WatchedCell, watch_orders
from rogue.harness.testbeds.ends.roles import NodeFlow
from rogue.harness.testbeds.ssh.nodes import ROLE_LIMIT_MS, Node
from rogue.harness.testbeds.ssh.switch_machine import cell_ports
from rogue.workloads.records import FailureKind

_RUN_NS: Final = 1
"""The message `Start` needs a duration, but the switch watches until its result is requested."""
_STRUCK: Final = many(many(integer(0, (1 << 63) - 1), 3, 3), 100_000)


class SwitchWatch:
    """The role of the switch machine's agent in one cell."""

    def __init__(self, cell: Cell, flows: Sequence[NodeFlow], inventory: Inventory, node: Node) -> None:
        assert inventory.switch is not None
        self._cell = cell
        self._inventory = inventory
        self._node = node
        self._orders = watch_orders(cell, flows, inventory.switch.interfaces)
        self.watched = WatchedCell(cell, flows, self._orders, Watched())

    def prepare(self, prepared: Mapping[str, Prepared]) -> None:
        """Begin to carry out packet events, and prepare to record."""
        text = self._orders.resolved(prepared).text()
        for place in range(0, len(text), ORDERS_PART_MAX):
            part, is_last = text[place : place + ORDERS_PART_MAX], place + ORDERS_PART_MAX >= len(text)
            self._node.ask(Watch(SWITCH_ROLE, ROLE_LIMIT_MS, part, is_last), Watching)

    def start(self, start_ns: int) -> None:
        """Record from a common start on."""
        own_ns = self._node.own_ns(start_ns)
        self._node.ask(Start(SWITCH_ROLE, ROLE_LIMIT_MS, own_ns, _RUN_NS), Started)

    def collect(self) -> None:
        """End the watch and fetch what the switch recorded and did."""
        results = self._node.ask(Result(SWITCH_ROLE, ROLE_LIMIT_MS), Results)
        files = {name: self._node.fetch(str(path)) for name, path in results.files.items()}
        try:
            struck = json.loads(files["struck"])
            _STRUCK.read(struck, "struck")
            watched = Watched(files["packets"], int(str(results.facts["packets_missed"])), struck)
        except (MessageError, ValueError, KeyError) as error:
            raise self._damaged(error) from error
        self.watched = WatchedCell(self._cell, self.watched.flows, self._orders, watched)

    def end(self) -> None:
        """End the role; the agent stays for the next cell."""
        self._node.ask(EndRole(SWITCH_ROLE, ROLE_LIMIT_MS), RoleEnded)

    def tables(self, prepared: Mapping[str, Prepared], end_ns: int) -> dict[str, Columns]:
        """Return the table of packets; TestbedError (invalid_result) if the capture is damaged."""
        try:
            return self.watched.tables(prepared, cell_ports(self._cell, self._inventory), end_ns)
        except (ValueError, LookupError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> TestbedError:
        text = f"{self._node.name}: its packets are damaged ({type(error).__name__}: {error})"
        return TestbedError(FailureKind.INVALID_RESULT, text)
