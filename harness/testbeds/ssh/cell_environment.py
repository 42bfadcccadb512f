"""The environment of a cell's traffic on nodes: the switch's ports and counters, link cuts, the load."""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.port_counters import PortCounters
from rogue.harness.provisioning.switch import SwitchConnection
from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.harness.testbeds.ends.port_faults import outages
from rogue.harness.testbeds.ends.tables import port_counter_rows
from rogue.harness.testbeds.rows import columns_of
from rogue.harness.testbeds.ssh.cpu import INTERVAL_S, CpuRecorder, parse_dool
from rogue.harness.testbeds.ssh.node import Node
from rogue.harness.testbeds.ssh.switch import cell_ports
from rogue.remote.errors import NodeError
from rogue.workloads.records import CounterRow, CpuRow, FailureKind


class CellEnvironment:
    """Sets the switch's ports before the traffic, and reads counters and load before and after it.

    Without a switch in the inventory it sets, reads and cuts nothing there.
    """

    def __init__(self, cell: Cell, inventory: Inventory, nodes: Mapping[str, Node]) -> None:
        self._cell = cell
        self.inventory = inventory
        self._nodes = nodes
        self._switch = None if inventory.switch is None else SwitchConnection(inventory)
        self._before: Mapping[str, PortCounters] = {}
        self._after: Mapping[str, PortCounters] = {}
        self._recorders: dict[str, CpuRecorder] = {}
        self._running: dict[str, CpuRecorder] = {}
        self.dool: dict[str, bytes] = {}
        """Raw tables, by host."""
        self.unrecorded: list[str] = []
        """Reasons why the load of some hosts is not known. The traffic does not need it."""

    @contextmanager
    def around(self) -> Iterator["CellEnvironment"]:
        """Hold the connection to the switch."""
        with ExitStack() as stack:
            if self._switch is not None:
                with _blamed_on_switch():
                    stack.enter_context(self._switch)
            yield self

    @property
    def switch(self) -> str:
        """The kind of switch between the nodes, as the manifest names it."""
        if self._switch is not None:
            return "Linux tc (software)"
        names = {each.variables.switch_platform for each in self.inventory.hardware_switches}
        return f"{', '.join(sorted(names))} (hardware)" if names else "not set up by this project"

    def set_ports(self) -> None:
        """Give the switch's ports their rates, queues, delays and losses."""
        if self._switch is not None:
            with _blamed_on_switch():
                self._switch.apply(cell_ports(self._cell, self.inventory))

    def record_load(self) -> None:
        """Start to record the nodes' load: early, because dool takes seconds to start on an emulated node."""
        if self._cell.experiment.measures("cpu"):
            for name, node in self._nodes.items():
                with self._without_load():
                    self._recorders[name] = CpuRecorder(node.shell, time.monotonic_ns())
            self._running = dict(self._recorders)

    def begin(self) -> None:
        """Read the counters, just before the traffic."""
        self._before = self._counters()

    def on_start(self, start_ns: int) -> None:
        """Schedule the link cuts, relative to the common start."""
        if self._switch is None:
            return
        for (port, *_), outage in outages(self._cell, self._cell.network.ports):
            after_s = (start_ns + outage.at_ns - time.monotonic_ns()) / 1e9
            with _blamed_on_switch():
                self._switch.cut(port, after_s=after_s, duration_s=outage.duration_ns / 1e9)

    def end(self) -> None:
        """End the recording and read the counters again."""
        while self._running:
            name, recorder = self._running.popitem()
            with self._without_load():
                self.dool[name] = recorder.stop()
        self._after = self._counters()

    def _counters(self) -> Mapping[str, PortCounters]:
        if self._switch is None:
            return {}
        with _blamed_on_switch():
            return self._switch.counters()

    def rescue(self) -> None:
        """After a failure: read what can still be read."""
        with suppress(TestbedError):
            self.end()

    @contextmanager
    def _without_load(self) -> Iterator[None]:
        """A recorder that fails loses its own samples and nothing else."""
        try:
            yield
        except NodeError as error:
            self.unrecorded.append(str(error))

    def counter_rows(self) -> list[CounterRow]:
        """Counters of the switch's ports, before and after."""
        return port_counter_rows(self._before, self._after)

    def cpu_table(self, start_ns: int, traffic_ns: int) -> Columns:
        """Busy cores of each node while the traffic lasts; `start_ns` on this process's clock.

        A sample is about the second before it, so the first one that counts ends a second after the start.
        """
        rows = []
        for name, content in self.dool.items():
            cores, recorder = self._nodes[name].capabilities.cores, self._recorders[name]
            for sample in parse_dool(content):
                t_ns = recorder.here_ns(sample.epoch_s) - start_ns
                if INTERVAL_S * SECOND_NS <= t_ns <= traffic_ns:
                    busy_cores = sample.busy_fraction * cores
                    rows.append(CpuRow(host=name, t_ns=t_ns, busy_cores=busy_cores, source="dool"))
        return columns_of(CpuRow, rows)


@contextmanager
def _blamed_on_switch() -> Iterator[None]:
    try:
        yield
    except NodeError as error:
        raise TestbedError(FailureKind.SWITCH, str(error)) from error
