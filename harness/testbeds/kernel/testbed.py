"""Run cells in the Linux kernel in virtual time."""

import platform
import sys
import tempfile
from pathlib import Path
from typing import Final

from rogue.agent.core.transports import TRANSPORTS
from rogue.agent.node.bundle import agent_archive
from rogue.agent.node.capture import SLOT_BYTES
from rogue.agent.node.messages import KERNEL_TCPS
from rogue.agent.node.orders import ORDERS, REACHED
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.recorded_packets import never_recorded
from rogue.harness.cell.transport import ParameterMistake
from rogue.harness.plugins.loading import packed_plugins
from rogue.harness.testbeds.base import CellResult, Failure, Progress, Testbed, TestbedError
from rogue.harness.testbeds.ends import support as ends
from rogue.harness.testbeds.ends.roles import limited_flows, limiters_of, plan_roles, short_of_limiters
from rogue.harness.testbeds.ends.switch_ports import uneven_delays, unsupported_fault, unsupported_marking
from rogue.harness.testbeds.kernel.network import orders_of
from rogue.harness.testbeds.kernel.outcome import NOT_MEASURED, result_of
from rogue.virtual import prerequisites
from rogue.virtual.errors import VirtualTestbedError
from rogue.virtual.kernel.boot import CONSOLE, MAIN, Kernel, KernelPanicError, KernelTimeoutError, boot
from rogue.virtual.kernel.build import cache_directory, obtain, present
from rogue.workloads.records import FailureKind

OFFERED: Final = (*TRANSPORTS, *KERNEL_TCPS)
NIC: Final = "soft_roce"
"""The simulator's name for what the kernel has."""
AGENT: Final = "rogue-agent.pyz"
BUILD: Final = "rogue testbed kernel build"
_CONDUCT: Final = f"""\
import sys

sys.path.insert(0, "{AGENT}")
from rogue.agent.node.conductor import main

sys.exit(main(["."]))
"""
SETUP_SECONDS: Final = 4.0
"""Booting, building the network, starting Python."""
ROLE_SECONDS: Final = 0.7
"""Starting and preparing one end of a flow: a process whose pages are all touched anew."""
PACKET_SECONDS: Final = 20e-6
"""Processor time of a data packet with its acknowledgement, two ports, a bridge (benchmarks/README.md)."""
MEMORY_BYTES_MAX: Final = 4 * 2**20
"""Every page of a role's memory costs when it is touched first, and all of them are in one kernel."""
BASE_MIB: Final = 256
"""The kernel, its network and the conductor."""
ROLE_MIB: Final = 16
"""One end of a flow: about 9 MiB of its process, and its share of TCP's buffers."""
LIMIT_FACTOR: Final = 30.0
"""A kernel that takes this many times the expected time has hung."""


def _unsupported_transports(cell: Cell) -> str | None:
    for group in cell.groups:
        name = group.transport
        if name.features or name.base not in OFFERED:
            return f"the kernel testbed has no {name}; it has {', '.join(OFFERED)}"
        if group.parameters.get("completions") == "polling":
            return "polling never ends in a kernel where it takes no time: set completions to event"
        if key := ends.kernels_own(group):
            return f"{name} is Linux's own, which takes no {key}: leave it out"
    return None


def _unsupported_network(cell: Cell) -> str | None:
    topology = cell.topology
    if topology.nic not in (None, NIC):
        return f"the kernel's card is {NIC}, no {topology.nic}: leave topology.nic out"
    nodes = len(topology.host_names()) + len(topology.switch_names())
    if len(list(topology.links())) != nodes - 1:
        return f"Linux's bridges carry no topology with several paths, such as {topology.kind}"
    return uneven_delays(cell) or ends.simulators_topology(cell) or unsupported_fault(cell)


def memory_mib(flows: int, packets: int = 0) -> int:
    """Return the memory of a kernel with two ends per flow, and a capture; untouched pages cost nothing."""
    return BASE_MIB + 2 * flows * ROLE_MIB + packets * SLOT_BYTES // 2**20


class KernelTestbed(Testbed):
    """Linux as one process with a virtual clock: real verbs and real queues at the experiment's rate."""

    def __init__(self, kernel: Kernel | None = None) -> None:
        """`kernel`: one that is there; otherwise it is looked for, and built where there is none."""
        self._kernel = kernel

    @property
    def name(self) -> str:
        return "kernel"

    def obstacles(self) -> list[str]:
        """Build the kernel if it is missing; return what prevents that."""
        try:
            prerequisites.require(prerequisites.KERNEL)
            self._kernel = obtain(cache_directory(), _tell)
        except VirtualTestbedError as error:
            return [str(error)]
        return []

    def unsupported(self, cell: Cell) -> str | None:
        return (
            _unsupported_transports(cell)
            or _unsupported_network(cell)
            or ends.simulators_traffic(cell)
            or ends.too_fine(cell)
            or unsupported_marking(cell)
            or short_of_limiters(limited_flows(cell), limiters_of(cell.topology))
            or never_recorded(cell)
            or cell.idleness
            or cell.experiment.unmet_requirement(NOT_MEASURED)
        )

    def is_same_for_every_seed(self, cell: Cell) -> bool:
        """Return True unless flows or sizes are drawn."""
        return ends.is_same_for_every_seed(cell)

    def parameter_mistake(self, cell: Cell) -> ParameterMistake | None:
        return ends.parameter_mistake(cell)

    def estimate_seconds(self, cell: Cell) -> float:
        """Estimate from the ends of flows, and the packets that links to receivers can carry."""
        topology = cell.topology
        rate_bps = sum(topology.host_rate_bps(host) for host in cell.receivers)
        packets = rate_bps / 8 / topology.mtu_bytes * cell.timing.traffic_ns / 1e9
        roles = 2 * (sum(cell.receivers.values()) + (cell.probe is not None))
        return SETUP_SECONDS + roles * ROLE_SECONDS + packets * PACKET_SECONDS

    def _kernel_here(self) -> Kernel:
        """Return the kernel found before the run; on a cluster's computer, the one there.

        Building takes minutes of all processors, which no cell should: TestbedError says how to have it done.
        """
        if self._kernel is not None and self._kernel.program.exists():
            return self._kernel
        reason = ""
        try:
            if (kernel := present(cache_directory())) is not None:
                return kernel
        except VirtualTestbedError as error:
            reason = f" ({error})"
        text = f"{platform.node()} has no kernel for cells{reason}; have it built there: {BUILD}"
        raise TestbedError(FailureKind.CONFIGURATION, text)

    def run(self, cell: Cell, progress: Progress) -> CellResult:
        """Write the cell's orders before the kernel starts, and read its account after it has ended."""
        progress(0.0)
        kernel = self._kernel_here()
        flows = plan_roles(cell, MEMORY_BYTES_MAX)
        with tempfile.TemporaryDirectory(prefix="rogue-cell-") as place:
            folder = Path(place)
            (folder / AGENT).write_bytes(agent_archive(packed_plugins()))
            orders = orders_of(cell, flows)
            capture = orders.watch.capture
            (folder / ORDERS).write_text(orders.text())
            (folder / MAIN).write_text(_CONDUCT)
            try:
                boot(
                    kernel,
                    folder,
                    limit_s=LIMIT_FACTOR * self.estimate_seconds(cell),
                    memory_mib=memory_mib(len(flows), capture.packets_max if capture else 0),
                    on_wait=lambda: progress(_reached(folder, cell)),
                )
            except VirtualTestbedError as error:
                return _lost(error, folder)
            progress(1.0)
            return result_of(cell, flows, folder)


def _reached(folder: Path, cell: Cell) -> float:
    try:
        reached_ns = int((folder / REACHED).read_text())
    except (OSError, ValueError):
        return 0.0
    return max(0, min(reached_ns, cell.timing.traffic_ns)) / cell.timing.traffic_ns


def _lost(error: VirtualTestbedError, folder: Path) -> CellResult:
    kinds = {KernelTimeoutError: FailureKind.TIMEOUT, KernelPanicError: FailureKind.NODE_LOST}
    kind = next((kind for cause, kind in kinds.items() if isinstance(error, cause)), FailureKind.AGENT)
    console = (folder / CONSOLE).read_bytes()
    return CellResult(failure=Failure(kind, str(error)), raw={CONSOLE: console} if console else {})


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")
