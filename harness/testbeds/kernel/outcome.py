"""Read the tables, facts and raw files that a cell's kernel leaves."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from rogue.agent.node.orders import ACCOUNT, CAPTURE, COUNTS, FILES, SAMPLES, Account
from rogue.agent.node.packet_watch import Watched
from rogue.harness.cell.cell import Cell, cell_facts
from rogue.harness.cell.timing import Timing
from rogue.harness.experiment.choices import MeasureKind
from rogue.harness.provisioning.linux_switch import (
    PortCounters,
    filter_drops,
    port_counters,
    waiting_packets,
)
from rogue.harness.testbeds.base import CellResult, Columns, Fact, Failure, TestbedError
from rogue.harness.testbeds.ends.packets import NO_PACKETS, WatchedCell, watch_orders
from rogue.harness.testbeds.ends.roles import NodeFlow, pacing_facts
from rogue.harness.testbeds.ends.support import end_facts
from rogue.harness.testbeds.ends.tables import (
    Conducted,
    Readings,
    collect_tables,
    failure_of,
    node_counters,
    port_counter_rows,
)
from rogue.harness.testbeds.kernel.network import (
    DISCIPLINES,
    FILTERED_DIRECTIONS,
    HUNG_AFTER_NS,
    cell_ports,
    port_interfaces,
)
from rogue.harness.testbeds.transfer_tables import columns_of
from rogue.workloads.records import CounterRow, FailureKind, QueueRow

CLOCK: Final = "virtual: computing takes no time"
NOT_MEASURED: Final[dict[MeasureKind, str]] = {
    "cpu": "processor time is free in a kernel with a virtual clock",
    "pauses": "Linux's bridges send no pauses",
}

_SENSELESS: Final = (
    ArithmeticError,
    AttributeError,
    csv.Error,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading a damaged file may raise."""
EMPTY: Final[dict[MeasureKind, str]] = {
    "packets": NO_PACKETS,
    "throughput": "there is no traffic but what measures latency",
    "latency": "no probe was sent",
    "rtt": "no transport of the cell estimates round-trip times, or no flow lasted for a sample",
    "control": "no transport of the cell has a control that it feeds, or no flow lasted for a sample",
}
"""Why a table has no rows."""


def result_of(cell: Cell, flows: list[NodeFlow], folder: Path) -> CellResult:
    """Read the folder of a kernel that has ended; a damaged file is a failure of the cell."""
    try:
        return _result_of(cell, flows, folder)
    except TestbedError as error:
        failure = Failure(error.kind, str(error))
    except _SENSELESS as error:
        text = f"a file of the kernel is damaged ({type(error).__name__}: {error})"
        failure = Failure(FailureKind.INVALID_RESULT, text)
    return CellResult(raw=_raw(folder), failure=failure)


def _result_of(cell: Cell, flows: list[NodeFlow], folder: Path) -> CellResult:
    account = Account.read(_content(folder / ACCOUNT).decode())
    result = CellResult(raw=_raw(folder))
    if account.failure is not None:
        kind = _KINDS.get(account.failure_kind or "", FailureKind.AGENT)
        result.failure = Failure(kind, account.failure)
    for measure, reason in NOT_MEASURED.items():
        if cell.experiment.measures(measure):
            result.not_measured[measure] = reason
    if account.start_ns is None or account.failure is not None:
        return result
    done = Conducted(account.start_ns, account.prepared, account.results, _files(folder))
    own_start_ns = dict.fromkeys(cell.topology.host_names(), account.start_ns)
    readings = Readings(flows, done, own_start_ns)
    watched = _watched(cell, flows, account, folder)
    result.tables = collect_tables(cell, readings, watched.event_rows)
    counts = json.loads(_content(folder / COUNTS))
    before, after = (_port_counters(cell, counts[when]) for when in ("before", "after"))
    ports = port_counter_rows(before, _with_cuts(cell, after, counts["meanwhile"]))
    result.tables["counters"] = columns_of(CounterRow, sorted(ports + node_counters(readings)))
    if cell.experiment.measures("queues"):
        result.tables["queues"] = _queues(cell, folder / SAMPLES)
    result.tables |= watched.tables(account.prepared, cell_ports(cell), readings.end_ns)
    for measure, reason in EMPTY.items():
        if cell.experiment.measures(measure) and measure not in result.tables:
            result.not_measured[measure] = reason
    result.facts = _facts(cell, flows, account) | watched.facts
    result.failure = failure_of(cell, flows, account.results)
    return result


_KINDS: Final = {
    "configuration": FailureKind.CONFIGURATION,
    "verbs": FailureKind.VERBS,
    "timeout": FailureKind.TIMEOUT,
}


def _files(folder: Path) -> dict[str, dict[str, bytes]]:
    files: dict[str, dict[str, bytes]] = {}
    for path in sorted((folder / FILES).iterdir()):
        role, _, name = path.name.partition(".")
        files.setdefault(role, {})[name] = _content(path)
    return files


def _content(path: Path) -> bytes:
    """Return the content of a file that the kernel wrote; open no link that leads elsewhere."""
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"{path.name} is missing, or no file")
    return path.read_bytes()


def _queues(cell: Cell, samples: Path) -> Columns:
    """Return samples of the ports: bytes waiting, and drops and marks since the sample before.

    Deviation: the kernel keeps no largest queue between two samples; the column has the sample itself.
    """
    read = csv.DictReader(io.StringIO(_content(samples).decode()))
    rows: list[QueueRow] = []
    before: dict[str, Mapping[str, str]] = {}
    for t_ns, each in _repeated(read, cell.timing):
        port, waiting_bytes = each["port"], int(each["bytes"])
        known = before.get(port, {})
        before[port] = each
        gauges = {"priority": 0, "bytes": waiting_bytes, "max_bytes": waiting_bytes}
        counted = [
            name for name in QueueRow._fields if name in each and name not in ("port", "t_ns", *gauges)
        ]
        counts = {name: int(each[name]) - int(known.get(name, 0)) for name in counted}
        rows.append(QueueRow(node=port.partition("->")[0], port=port, t_ns=t_ns, **gauges, **counts))
    return columns_of(QueueRow, rows)


def _watched(cell: Cell, flows: list[NodeFlow], account: Account, folder: Path) -> WatchedCell:
    orders = watch_orders(cell, flows, port_interfaces(cell.topology))
    packets = b"" if orders.capture is None else _content(folder / CAPTURE)
    return WatchedCell(cell, flows, orders, Watched(packets, account.packets_missed, account.struck))


def _repeated(rows: Iterable[Mapping[str, str]], timing: Timing) -> Iterator[tuple[int, Mapping[str, str]]]:
    for t_ns, sample in groupby(rows, key=lambda row: int(row["t_ns"])):
        ports = list(sample)
        repeats, interval_ns = int(ports[0]["repeats"]), timing.queue_interval_ns
        if not 0 <= repeats * interval_ns <= timing.limit_ns + HUNG_AFTER_NS:
            raise ValueError(f"repeats: got {repeats}, expected as many as the cell has intervals at most")
        for number in range(repeats + 1):
            yield from ((t_ns + number * interval_ns, port) for port in ports)


def _port_counters(cell: Cell, printed: Mapping[str, str]) -> dict[str, PortCounters]:
    disciplines: dict[str, list[dict[str, Any]]] = {}
    for discipline in json.loads(printed[DISCIPLINES]):
        disciplines.setdefault(discipline["dev"], []).append(discipline)
    return {
        port: port_counters(disciplines.get(interface, []), _filtered_packets(printed, interface))
        for port, interface in port_interfaces(cell.topology).items()
    }


def _filtered_packets(printed: Mapping[str, str], interface: str) -> int:
    """Return the packets that the filters of a port dropped, in both directions."""
    shown = (printed.get(f"{interface} {direction}") or "[]" for direction in FILTERED_DIRECTIONS)
    return sum(filter_drops(json.loads(each)) for each in shown)


def _with_cuts(
    cell: Cell, counters: Mapping[str, PortCounters], kept: Mapping[str, str]
) -> dict[str, PortCounters]:
    """Add the packets that waited in ports when their links were cut to the counters.

    kept: what tc printed then, under the interface and the number of the cut.
    """
    lost = Counter[str]()
    for name, printed in kept.items():
        lost[name.partition(" ")[0]] += waiting_packets(json.loads(printed))
    interfaces = port_interfaces(cell.topology)
    return {
        port: replace(counted, lost_packets=counted.lost_packets + lost[interfaces[port]])
        for port, counted in counters.items()
    }


def _facts(cell: Cell, flows: list[NodeFlow], account: Account) -> dict[str, Fact]:
    is_all_tcp = all(group.transport.service == "tcp" for group in cell.groups)
    return {
        "clock": CLOCK,
        **cell_facts(cell),
        **end_facts(flows, account.results),
        "queue_interval_ns": cell.timing.queue_interval_ns,
        "nic": "the kernel's own network stack (software)" if is_all_tcp else "rdma_rxe (software)",
        "nic_is_hardware": False,
        **pacing_facts(flows, account.prepared),
        "switch": "Linux bridges (software)",
        "node_kernel": account.kernel,
        "node_python": account.python,
    }


def _raw(folder: Path) -> dict[str, bytes]:
    kept = (path for path in sorted([*folder.glob("*.log"), *folder.glob("*.json")]) if path.is_file())
    return {path.name: path.read_bytes() for path in kept if not path.is_symlink() and path.stat().st_size}
