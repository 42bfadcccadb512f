"""What a cell's kernel left behind: tables, facts, raw files."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from harness.cell.cell import Cell
from harness.cell.facts import cell_facts
from harness.experiment.choices import MeasureKind
from harness.provisioning.port_counters import PortCounters, filter_drops, port_counters
from harness.testbeds.base import CellResult, Columns, Fact, Failure
from harness.testbeds.ends.roles import NodeFlow
from harness.testbeds.ends.tables import Conducted, Readings, collect_tables, node_counters, port_counter_rows
from harness.testbeds.ends.verdict import failure_of
from harness.testbeds.kernel.network import port_interfaces
from harness.testbeds.kernel.orders import DISCIPLINES
from harness.testbeds.rows import columns_of
from rogue_agent.node.orders import ACCOUNT, COUNTS, FILES, SAMPLES, Account
from workloads.records import CounterRow, FailureKind, QueueRow

CLOCK: Final = "virtual: computing takes no time"
NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "cpu": "processor time is free in a kernel with a virtual clock",
    "pauses": "Linux's bridges pause nobody",
}

LIMITER_WORDS: Final = {"rc": "tc htb (software)", "uc": "the agent posts verbs later (software)"}
"""By the service of the cell's first flow; a TCP has none."""
EMPTY: Final[dict[MeasureKind, str]] = {
    "throughput": "no flow lasted for an interval of samples",
    "latency": "no probe was sent",
    "rtt": "no transport of the cell estimates round-trip times, or no flow lasted for a sample",
}
"""Why a table has no rows."""


def result_of(cell: Cell, flows: list[NodeFlow], folder: Path) -> CellResult:
    """Read the folder of a kernel that has ended."""
    account = Account.read((folder / ACCOUNT).read_text())
    result = CellResult(raw=_raw(folder), failure=_failure(account))
    for measure, reason in NOT_MEASURED.items():
        if cell.experiment.measures(measure):
            result.not_measured[measure] = reason
    if account.start_ns is None or account.failure is not None:
        return result
    done = Conducted(account.start_ns, account.prepared, account.results, _files(folder))
    own_start_ns = dict.fromkeys(cell.topology.host_names(), account.start_ns)
    readings = Readings(flows, done, own_start_ns)
    result.tables = collect_tables(cell, readings)
    counts = json.loads((folder / COUNTS).read_text())
    before, after = (_port_counters(cell, counts[when]) for when in ("before", "after"))
    counters = port_counter_rows(before, after) + node_counters(readings)
    result.tables["counters"] = columns_of(CounterRow, sorted(counters))
    if cell.experiment.measures("queues"):
        result.tables["queues"] = _queues(folder / SAMPLES)
    for measure, reason in EMPTY.items():
        if cell.experiment.measures(measure) and measure not in result.tables:
            result.not_measured[measure] = reason
    result.facts = _facts(cell, flows, account)
    result.failure = failure_of(cell, flows, account.results)
    return result


_KINDS: Final = {
    "configuration": FailureKind.CONFIGURATION,
    "verbs": FailureKind.VERBS,
    "timeout": FailureKind.TIMEOUT,
}


def _failure(account: Account) -> Failure | None:
    if account.failure is None:
        return None
    return Failure(_KINDS.get(account.failure_kind or "", FailureKind.AGENT), account.failure)


def _files(folder: Path) -> dict[str, dict[str, bytes]]:
    """The roles' files, by role and name."""
    files: dict[str, dict[str, bytes]] = {}
    for path in sorted((folder / FILES).iterdir()):
        role, _, name = path.name.partition(".")
        files.setdefault(role, {})[name] = path.read_bytes()
    return files


def _queues(samples: Path) -> Columns:
    """Samples of the ports: what waits at the instants, and what was dropped and marked since the one before.

    Deviation: the kernel keeps no largest queue between two samples; the sample itself stands there.
    """
    return columns_of(QueueRow, _queue_rows(csv.DictReader(io.StringIO(samples.read_text()))))


def _queue_rows(samples: Iterable[Mapping[str, str]]) -> Iterator[QueueRow]:
    before: dict[str, tuple[int, int]] = {}
    for each in samples:
        port, waiting_bytes = each["port"], int(each["bytes"])
        drops, marks = int(each["drops"]), int(each["marks"])
        known = before.get(port, (0, 0))
        before[port] = drops, marks
        yield QueueRow(
            node=port.partition("->")[0],
            port=port,
            priority=0,
            t_ns=int(each["t_ns"]),
            bytes=waiting_bytes,
            max_bytes=waiting_bytes,
            drops=drops - known[0],
            marks=marks - known[1],
        )


def _port_counters(cell: Cell, printed: Mapping[str, str]) -> dict[str, PortCounters]:
    """Counters of the switches' ports, from what tc printed."""
    disciplines: dict[str, list[dict[str, Any]]] = {}
    for discipline in json.loads(printed[DISCIPLINES]):
        disciplines.setdefault(discipline["dev"], []).append(discipline)
    return {
        port: port_counters(
            disciplines.get(interface, []), filter_drops(json.loads(printed.get(interface) or "[]"))
        )
        for port, interface in port_interfaces(cell.topology).items()
    }


def _facts(cell: Cell, flows: list[NodeFlow], account: Account) -> dict[str, Fact]:
    probe = next((flow for flow in flows if flow.is_probe), None)
    return {
        "clock": CLOCK,
        **cell_facts(cell),
        "probe_host": probe.flow.source if probe else None,
        "queue_interval_ns": cell.timing.queue_interval_ns,
        "qp_failures": sum(
            result.status == "error" and not name.startswith("probe")
            for name, result in account.results.items()
        ),
        "nic": "the kernel's own network stack (software)" if _is_all_tcp(cell) else "rdma_rxe (software)",
        "nic_is_hardware": False,
        "rate_limiter": LIMITER_WORDS.get(flows[0].service),
        "timestamps": "the host's clock (software)",
        "switch": "Linux bridges (software)",
        "node_kernel": account.kernel,
        "node_python": account.python,
    }


def _is_all_tcp(cell: Cell) -> bool:
    return all(group.transport.service == "tcp" for group in cell.groups)


def _raw(folder: Path) -> dict[str, bytes]:
    """What was said on the way."""
    kept = [*folder.glob("*.log"), *folder.glob("*.json")]
    return {path.name: path.read_bytes() for path in sorted(kept) if path.stat().st_size}
