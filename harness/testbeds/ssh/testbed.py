"""Run cells on hosts over SSH, and keep their tables and log."""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from statistics import median_low
from typing import Final

from rogue.agent.baselines.tcp_socket import GAUGES
from rogue.agent.node.messages import Capabilities
from rogue.harness.cell.cell import Cell, cell_facts
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.errors import UsageError
from rogue.harness.provisioning.cards import card_name, card_profile
from rogue.harness.provisioning.doctor import examine
from rogue.harness.provisioning.inventory import Inventory, load_inventory
from rogue.harness.provisioning.provision import log_file
from rogue.harness.provisioning.switches.readback import SwitchState
from rogue.harness.terminal import error_console
from rogue.harness.testbeds.base import CellResult, Columns, Fact, Failure, Progress, Testbed, TestbedError
from rogue.harness.testbeds.ends.packets import NO_PACKETS
from rogue.harness.testbeds.ends.roles import NodeFlow, pacing_facts, plan_roles
from rogue.harness.testbeds.ends.support import end_facts, is_same_for_every_seed, parameter_mistake
from rogue.harness.testbeds.ends.tables import Conducted, Readings, collect_tables, failure_of, node_counters
from rogue.harness.testbeds.ssh import support
from rogue.harness.testbeds.ssh.cell_environment import CellEnvironment
from rogue.harness.testbeds.ssh.conduct import Conductor, joined
from rogue.harness.testbeds.ssh.declared_switches import allowed_differences, switch_facts
from rogue.harness.testbeds.ssh.nodes import Node, close_nodes, open_all, open_nodes
from rogue.harness.testbeds.ssh.switch_machine import marking_facts, marks_differ, watching_switch
from rogue.harness.testbeds.ssh.switch_readback import read_switch_states, refusal, switch_state_facts
from rogue.harness.testbeds.ssh.switch_request import inventory_as_requested
from rogue.harness.testbeds.ssh.switch_watch import SwitchWatch
from rogue.harness.testbeds.transfer_tables import columns_of
from rogue.workloads.records import CounterRow

TABLE_FILES: Final = ("transfers", "arrivals", "throughput", "rtt", "control", "events", "counters")
"""Files of a role that become tables; the others are kept as they are."""
SETUP_SECONDS: Final = 20.0
"""Connecting, preparing and collecting, beside the time of the traffic itself."""


class CollectedCell:
    """Everything that is known after a run."""

    def __init__(
        self,
        cell: Cell,
        flows: Sequence[NodeFlow],
        nodes: Mapping[str, Node],
        done: Conducted,
        environment: CellEnvironment,
    ) -> None:
        self._cell = cell
        self._flows = flows
        self._nodes = nodes
        self._done = done
        self._environment = environment

    def rescued(self, error: TestbedError) -> CellResult:
        """Return the results of a failed cell."""
        result = CellResult(raw=self._raw())
        if self._done.start_ns is not None:
            with suppress(TestbedError):  # half a table may make no sense; the files are there
                result = self._measured()
        result.failure = Failure(error.kind, str(error))
        return result

    def result(self) -> CellResult:
        """Return the results of a cell."""
        result = self._measured()
        result.failure = self._failure()
        return result

    def _measured(self) -> CellResult:
        assert self._done.start_ns is not None, "a cell that has started"
        own_start_ns = {name: node.own_ns(self._done.start_ns) for name, node in self._nodes.items()}
        readings = Readings(self._flows, self._done, own_start_ns)
        tables, facts = self._from_switch(readings)
        counters = sorted(self._environment.counter_rows() + node_counters(readings))
        tables["counters"] = columns_of(CounterRow, counters)
        not_measured = support.not_measured(self._cell, self._environment.inventory)
        if self._environment.unrecorded:
            not_measured["cpu"] = "; ".join(self._environment.unrecorded)
        if self._environment.dool:
            tables["cpu"] = self._environment.cpu_table(self._done.start_ns, self._cell.timing.traffic_ns)
        if "packets" not in tables and self._cell.experiment.measures("packets"):
            not_measured.setdefault("packets", NO_PACKETS)
        return CellResult(tables, self._facts() | facts, not_measured, raw=self._raw())

    def _from_switch(self, readings: Readings) -> tuple[dict[str, Columns], dict[str, Fact]]:
        """Return the tables of hosts and of a switch that watched packets, and the facts of that."""
        if (watch := self._environment.watch) is None:
            return collect_tables(self._cell, readings), {}
        watched = watch.watched
        tables = collect_tables(self._cell, readings, watched.event_rows)
        return tables | watch.tables(self._done.prepared, readings.end_ns), watched.facts

    def _failure(self) -> Failure | None:
        if self._done.failures:
            error = joined(self._done.failures)
            return Failure(error.kind, str(error))
        return failure_of(self._cell, self._flows, self._done.results)

    def _facts(self) -> dict[str, Fact]:
        return {
            **cell_facts(self._cell),
            **end_facts(self._flows, self._done.results),
            "clock_error_ns": max(node.clock_error_ns for node in self._nodes.values()),
            "start_notice_ns": self._done.start_notice_ns,
            **self._equipment(),
            **self._tcp(),
        }

    def _tcp(self) -> dict[str, Fact]:
        """Return the kernel's window and round-trip time at the end, as medians over all connections."""
        senders = [flow.role("requester") for flow in self._flows if flow.service == "tcp"]
        results = [self._done.results[role] for role in senders if role in self._done.results]
        values = {name: [result.facts.get(name) for result in results] for name in GAUGES}
        known = {name: [each for each in found if isinstance(each, int)] for name, found in values.items()}
        return {f"tcp_{name}": median_low(found) for name, found in known.items() if found}

    def _equipment(self) -> dict[str, Fact]:
        first = next(flow for flow in self._flows if not flow.is_probe)
        node = self._nodes[first.host("requester")]
        prepared = self._done.prepared[first.role("requester")]
        limited = self._done.prepared[first.role(first.source_end)]
        port = next((port for port in node.capabilities.ports if port.get("device") == prepared.device), {})
        is_hardware = port.get("driver", "software") != "software"
        if prepared.device is None:  # TCP goes through whatever card there is
            is_hardware = node.variables.rdma_device_kind == "card"
        return {
            "nic": _nic(prepared.device, port),
            "nic_is_hardware": is_hardware,
            "nic_profile": card_profile(str(port.get("hca_type"))),
            "dcqcn": None if prepared.device is None else str(port.get("dcqcn", "unknown")),
            **_card_facts(port),
            **({} if limited.processors is None else {"agent_processors": limited.processors}),
            **pacing_facts(self._flows, self._done.prepared),
            "rate_limiter_step_bps": limited.limiter_step_bps,
            "switch": self._environment.switch,
            **switch_facts(self._environment.inventory),
            **marking_facts(self._cell, self._environment.inventory),
            **allowed_differences(self._cell, self._environment.inventory),
            "completions": prepared.completions,
            "inputs_recorded": first.carrier.settings.options.record_inputs,
            "node_kernel": node.capabilities.kernel,
            "node_python": node.capabilities.python,
            "node_cores": node.capabilities.cores,
            **({} if (states := node.capabilities.idle_states) is None else {"node_idle_states": states}),
        }

    def _raw(self) -> dict[str, bytes]:
        raw = {
            f"{role}.{name}": content
            for role, files in self._done.files.items()
            for name, content in files.items()
            if name not in TABLE_FILES
        }
        raw |= self._done.logs
        raw |= {f"{name}.dool.csv": content for name, content in self._environment.dool.items()}
        raw |= {f"{name}.agent.log": words for name, node in self._nodes.items() if (words := node.log())}
        replies = {
            "capabilities": {name: asdict(node.capabilities) for name, node in self._nodes.items()},
            "prepared": {role: asdict(prepared) for role, prepared in self._done.prepared.items()},
            "results": {role: asdict(result) for role, result in self._done.results.items()},
        }
        for name, content in replies.items():
            raw[f"{name}.json"] = json.dumps(content, indent=1, sort_keys=True).encode()
        return raw


def _card_facts(port: Mapping[str, object]) -> dict[str, Fact]:
    names = ("firmware", "pcie", "accelerations", "dcqcn_mask", "offloads", "interrupt_moderation")
    return {f"nic_{name}": str(port[name]) for name in names if name in port}


def _nic(device: str | None, port: Mapping[str, object]) -> str:
    if device is None:
        return "the kernel's own network stack (software)"
    if (driver := port.get("driver")) == "software":
        return f"{device} (software)"
    model = card_name(str(port.get("hca_type") or ""))
    return f"{device}, {model + ', ' if model else ''}driver {driver} (hardware)"


class SshTestbed(Testbed):
    """Provisioned machines: virtual ones, CloudLab's, or a rack's."""

    def __init__(self, name: str, inventory: Path, *, is_trusted: bool = False) -> None:
        self._is_trusted = is_trusted
        self._name = name
        self._file = inventory
        self._inventory: Inventory | None = None
        self._capabilities: dict[str, Capabilities] | None = None
        self._switch_states: dict[str, SwitchState] | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def jobs_max(self) -> int | None:
        """Return 1, because a cell uses the whole network."""
        return 1

    @property
    def inventory(self) -> Inventory:
        """Read once."""
        if self._inventory is None:
            self._inventory = load_inventory(self._file, is_trusted=self._is_trusted)
        return self._inventory

    @property
    def capabilities(self) -> Mapping[str, Capabilities]:
        """Return the capabilities of each host, read once."""
        if self._capabilities is None:
            hosts = [host.name for host in self.inventory.hosts]
            with ExitStack() as stack:
                nodes = open_all(self.inventory, hosts, stack)
                self._capabilities = {name: node.capabilities for name, node in nodes.items()}
        return self._capabilities

    @property
    def switch_states(self) -> Mapping[str, SwitchState]:
        """Return the reported settings of each hardware switch, read once."""
        if self._switch_states is None:
            self._switch_states = read_switch_states(self.inventory)
        return self._switch_states

    def obstacles(self) -> list[str]:
        """Return the doctor's findings that refuse."""
        findings = examine(self.inventory, log_file(None, "doctor"), error_console())
        return [str(finding) for finding in findings if finding.refuses]

    def unsupported(self, cell: Cell) -> str | None:
        named = self.inventory  # outside of `try`: an inventory that is refused ends the command
        try:
            inventory = inventory_as_requested(cell, named)
        except UsageError as error:
            return str(error)
        reason = support.unsupported(cell, inventory, self.capabilities)
        return reason or refusal(cell, inventory, self.switch_states)

    def is_same_for_every_seed(self, cell: Cell) -> bool:
        """Return True unless flows or sizes are drawn."""
        return is_same_for_every_seed(cell)

    def parameter_mistake(self, cell: Cell) -> ParameterMistake | None:
        return parameter_mistake(cell)

    def differences(self, cell: Cell) -> list[str]:
        """Return sentences about other marks, and about permitted differences of hardware switches."""
        inventory = inventory_as_requested(cell, self.inventory)
        marks = marks_differ(cell, inventory)
        found = allowed_differences(cell, inventory)
        found |= switch_state_facts(cell, inventory, self.switch_states)
        return [*([marks] if marks else []), *found.values()]

    def estimate_seconds(self, cell: Cell) -> float:
        """Return the time of the traffic and of the setup."""
        return SETUP_SECONDS + cell.timing.traffic_ns / SECOND_NS

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        """Prepare the nodes, let the traffic pass, and collect."""
        flows, inventory = plan_roles(cell), inventory_as_requested(cell, self.inventory)
        hosts, switch = support.used_hosts(cell), watching_switch(cell, inventory)
        with open_nodes(self.inventory, hosts | switch) as nodes:
            watch = next((SwitchWatch(cell, flows, inventory, nodes[name]) for name in switch), None)
            environment = CellEnvironment(cell, inventory, {name: nodes[name] for name in hosts}, watch)
            conductor = Conductor(nodes, flows, cell.timing, watch)
            collected = CollectedCell(cell, flows, nodes, conductor.done, environment)
            failure = None
            with environment.around():
                try:
                    _lead(conductor, environment, progress)
                except TestbedError as error:
                    failure = error
                    environment.rescue()
                    conductor.rescue()
            result = collected.result() if failure is None else collected.rescued(failure)
            result.facts |= switch_state_facts(cell, inventory, self.switch_states)
            if failure is not None or conductor.done.failures:
                close_nodes(self.inventory)  # their state is unknown
            else:
                self._end(conductor)
            return result

    def _end(self, conductor: Conductor) -> None:
        """Prepare the agents for the next cell; if one refuses, the next cell starts new ones."""
        try:
            conductor.end()
        except TestbedError:
            close_nodes(self.inventory)


def _lead(conductor: Conductor, environment: CellEnvironment, progress: Progress) -> None:
    environment.set_ports()
    environment.record_load()
    conductor.prepare()
    environment.begin()
    conductor.run(progress, environment.on_start)
    environment.end()
