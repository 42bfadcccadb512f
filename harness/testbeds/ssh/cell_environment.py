"""The environment of a cell on nodes: switch counters, link cuts and CPU samples."""

import csv
import io
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.provisioning.inventory import Inventory
from rogue.harness.provisioning.linux_switch import PortCounters, SwitchConnection
from rogue.harness.provisioning.places import DOOL
from rogue.harness.testbeds.base import Columns, TestbedError
from rogue.harness.testbeds.ends.switch_ports import outages
from rogue.harness.testbeds.ends.tables import port_counter_rows
from rogue.harness.testbeds.ssh.nodes import Node
from rogue.harness.testbeds.ssh.switch_machine import cell_ports
from rogue.harness.testbeds.ssh.switch_watch import SwitchWatch
from rogue.harness.testbeds.transfer_tables import columns_of
from rogue.remote.connection import Channel, Connection
from rogue.remote.errors import NodeError
from rogue.workloads.records import CounterRow, CpuRow, FailureKind

INTERVAL_S: Final = 1
STOP_LIMIT_S: Final = 30.0
"""An emulated node may take some seconds to end dool; a lost one would never."""
_CHUNK_BYTES: Final = 65_536

# dool ends when the connection does: nothing is left on a node whose harness was killed.
_COMMAND: Final = (
    "place=$(mktemp -d /tmp/rogue-dool-XXXXXX); table=$place/cpu.csv; date +%s%N; "
    f"python3 {DOOL} --epoch --cpu --output $table {INTERVAL_S} >/dev/null 2>&1 & dool=$!; "
    "cat >/dev/null; kill $dool; wait $dool; cat $table; rm -rf $place"
)


class CpuRecorder:
    """dool on one node, from now until it is stopped; NodeError if the node breaks off."""

    def __init__(self, connection: Connection, before_ns: int) -> None:
        """`before_ns`: this process's clock just before."""
        self._node = connection.node
        self._channel: Channel = connection.open_session(_COMMAND)
        self._epoch_ns = self._read_epoch_ns()
        self._here_ns = before_ns

    def _read_epoch_ns(self) -> int:
        reply = b""
        try:
            while (byte := self._channel.recv(1)) not in (b"", b"\n"):
                reply += byte
            return int(reply)
        except (OSError, ValueError) as error:
            self._channel.close()
            words = reply.decode(errors="replace")
            raise NodeError(
                f"{self._node}: got {words!r} from the recorder of its load, expected its time"
            ) from error

    def stop(self) -> bytes:
        """End dool and return its table."""
        self._channel.settimeout(STOP_LIMIT_S)
        try:
            self._channel.shutdown_write()
            table = b"".join(iter(lambda: self._channel.recv(_CHUNK_BYTES), b""))
        except OSError as error:
            raise NodeError(f"{self._node}: the recorder of its load is lost: {error}") from error
        finally:
            self._channel.close()
        if not parse_dool(table):
            raise NodeError(f"{self._node}: dool has measured nothing")
        return table

    def here_ns(self, epoch_s: float) -> int:
        """Return an instant of the node's calendar clock on this process's clock."""
        return self._here_ns + int(epoch_s * 1e9) - self._epoch_ns


@dataclass(frozen=True, slots=True)
class CpuSample:
    """One line of dool."""

    epoch_s: float
    busy_fraction: float
    """Of all cores together."""


def parse_dool(content: bytes) -> list[CpuSample]:
    """Read dool's table: titles and comments, a line of column names, then numbers.

    Busy time is all but idle time and waits for a disk. The first line of numbers is an average since the
    machine was switched on, and is left out.
    """
    try:
        lines = list(csv.reader(io.StringIO(content.decode(errors="replace"), newline="")))
        start = next(index for index, line in enumerate(lines) if {"idl", "wai", "epoch"} <= _words(line))
    except (StopIteration, csv.Error):
        return []
    names = [_word(cell) for cell in lines[start]]
    idle, waiting, epoch = names.index("idl"), names.index("wai"), names.index("epoch")
    samples = []
    for line in lines[start + 2 :]:
        numbers = [_number(cell) for cell in line]
        if len(numbers) == len(names) and all(map(math.isfinite, numbers)):
            busy = (100 - numbers[idle] - numbers[waiting]) / 100
            samples.append(CpuSample(numbers[epoch], min(1.0, max(0.0, busy))))
    return samples


def _words(line: list[str]) -> set[str]:
    return {_word(cell) for cell in line}


def _word(cell: str) -> str:
    """Return the column's own name: `total cpu usage:idl` is idl."""
    return cell.rpartition(":")[2].strip()


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan


class CellEnvironment:
    """Sets the switch's ports before the traffic, and reads counters and load before and after it.

    Without a switch in the inventory it sets, reads and cuts nothing there.
    """

    def __init__(
        self, cell: Cell, inventory: Inventory, nodes: Mapping[str, Node], watch: SwitchWatch | None = None
    ) -> None:
        self._cell = cell
        self.watch = watch
        """Of packets at the switch; None if the cell needs none."""
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
        """Return the kind of switch between the nodes, as the manifest names it."""
        if self._switch is not None:
            return "Linux tc (software)"
        names = {each.variables.platform_name for each in self.inventory.hardware_switches}
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
                    self._recorders[name] = CpuRecorder(node.connection, time.monotonic_ns())
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
        """Read the remaining data after a failure."""
        with suppress(TestbedError):
            self.end()

    @contextmanager
    def _without_load(self) -> Iterator[None]:
        try:
            yield
        except NodeError as error:
            self.unrecorded.append(str(error))

    def counter_rows(self) -> list[CounterRow]:
        """Return counters of the switch's ports, before and after."""
        return port_counter_rows(self._before, self._after)

    def cpu_table(self, start_ns: int, traffic_ns: int) -> Columns:
        """Return busy cores of each node during the traffic; `start_ns` is on this process's clock.

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
