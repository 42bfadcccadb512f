"""Run a cell on the nodes of an inventory."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rich.console import Console

from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.demand import Group, first_mistake
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.doctor import examine
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.provision import log_file
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.testbeds.base import CellResult, Progress, Testbed, TestbedError
from rogue.harness.testbeds.ends.roles import plan_roles
from rogue.harness.testbeds.ends.support import check_parameters, is_same_for_every_seed
from rogue.harness.testbeds.ends.switch_ports import check_marking
from rogue.harness.testbeds.ssh import declared_switches, support
from rogue.harness.testbeds.ssh.cell_environment import CellEnvironment
from rogue.harness.testbeds.ssh.collected_cell import CollectedCell
from rogue.harness.testbeds.ssh.conduct import Conductor
from rogue.harness.testbeds.ssh.nodes import close_nodes, open_all, open_nodes
from rogue.harness.testbeds.ssh.support import agent_is_slow
from rogue.harness.testbeds.ssh.switch_machine import marks_differ
from rogue.harness.testbeds.ssh.switch_readback import ComparedCells, read_switch_states
from rogue.harness.testbeds.ssh.switch_request import inventory_as_requested

SETUP_SECONDS: Final = 20.0
"""Connecting, preparing and collecting, beside the time of the traffic itself."""


class SshTestbed(Testbed):
    """Machines that somebody has provisioned: virtual ones, CloudLab's, or a rack's."""

    def __init__(self, name: str, inventory: Path, *, is_trusted: bool = False) -> None:
        self._is_trusted = is_trusted
        self._name = name
        self._file = inventory
        self._inventory: Inventory | None = None
        self._capabilities: dict[str, Capabilities] | None = None
        self._switch_states: dict[str, SwitchState] | None = None
        self._compared = ComparedCells()

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self._name

    @property
    def jobs_max(self) -> int | None:
        """One cell has the whole network to itself."""
        return 1

    @property
    def inventory(self) -> Inventory:
        """Read once."""
        if self._inventory is None:
            self._inventory = load_inventory(self._file, is_trusted=self._is_trusted)
        return self._inventory

    @property
    def capabilities(self) -> Mapping[str, Capabilities]:
        """What each host says it is and has; asked once."""
        if self._capabilities is None:
            hosts = [host.name for host in self.inventory.hosts]
            with ExitStack() as stack:
                nodes = open_all(self.inventory, hosts, stack)
                self._capabilities = {name: node.capabilities for name, node in nodes.items()}
        return self._capabilities

    @property
    def switch_states(self) -> Mapping[str, SwitchState]:
        """Return the state of each hardware switch, which is read once."""
        if self._switch_states is None:
            self._switch_states = read_switch_states(self.inventory)
        return self._switch_states

    def obstacles(self) -> list[str]:
        """The doctor's findings that refuse."""
        findings = examine(self.inventory, log_file(None, "doctor"), Console(stderr=True))
        return [str(finding) for finding in findings if finding.refuses]

    def unsupported(self, cell: Cell) -> str | None:
        """Why the cell cannot run on these nodes."""
        named = self.inventory
        try:
            inventory = inventory_as_requested(cell, named)
        except UsageError as error:
            return str(error)
        return support.unsupported(cell, inventory, self.capabilities) or self._compared.refusal(
            cell, inventory, self.switch_states
        )

    def is_same_for_every_seed(self, cell: Cell) -> bool:
        """Unless flows or sizes are drawn."""
        return is_same_for_every_seed(cell)

    def parameter_mistake(self, cell: Cell) -> ParameterMistake | None:
        """The first parameter that the agent does not take, or that only a simulator can give it."""
        return first_mistake(cell.groups, cell.transport.parameters, _check_parameters)

    def differences(self, cell: Cell) -> list[str]:
        """Marks of emulated machines, a core that is full; what of hardware switches may differ."""
        inventory = inventory_as_requested(cell, self.inventory)
        told = [words for words in (marks_differ(cell, inventory), agent_is_slow(cell)) if words]
        found = declared_switches.allowed_differences(cell, inventory) | self._switch_facts(cell, inventory)
        return [*told, *found.values()]

    def _switch_facts(self, cell: Cell, inventory: Inventory) -> dict[str, str]:
        return self._compared.facts(cell, inventory, self.switch_states)

    def estimate_seconds(self, cell: Cell) -> float:
        """The traffic's own time, for real time is what it takes."""
        return SETUP_SECONDS + cell.timing.traffic_ns / SECOND_NS

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        """Prepare the nodes, let the traffic pass, and collect."""
        flows, inventory = plan_roles(cell), inventory_as_requested(cell, self.inventory)
        with open_nodes(self.inventory, support.used_hosts(cell)) as nodes:
            environment = CellEnvironment(cell, inventory, nodes)
            conductor = Conductor(nodes, flows, cell.timing)
            collected = CollectedCell(cell, flows, nodes, conductor.done, environment)
            with environment.around():
                try:
                    _lead(conductor, environment, progress)
                except TestbedError as error:
                    environment.rescue()
                    conductor.rescue()
                    result = collected.rescued(error)
                    result.facts |= self._switch_facts(cell, inventory)
                    close_nodes(self.inventory)  # nobody knows what state they are in
                    return result
            result = collected.result()
            result.facts |= self._switch_facts(cell, inventory)
            if conductor.done.failures:
                close_nodes(self.inventory)
            else:
                self._end(conductor)
            return result

    def _end(self, conductor: Conductor) -> None:
        """Make the agents ready for the next cell; if one refuses, the next cell starts new ones."""
        try:
            conductor.end()
        except TestbedError:
            close_nodes(self.inventory)


def _check_parameters(group: Group) -> None:
    check_parameters(group)
    check_marking(group)


def _lead(conductor: Conductor, environment: CellEnvironment, progress: Progress) -> None:
    """Through the whole cell."""
    environment.set_ports()
    environment.record_load()
    conductor.prepare()
    environment.begin()
    conductor.run(progress, environment.on_start)
    environment.end()
