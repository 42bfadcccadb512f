"""Find the first packet at which the same cell of two runs parts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, NamedTuple

import pandas as pd

from rogue.reports.cells.recorded_packets import Packet as Recorded
from rogue.reports.cells.recorded_packets import packets_of
from rogue.reports.errors import ReportError
from rogue.reports.reading.load import Run
from rogue.workloads.records import CellStatus

BEFORE: Final = 10
"""Packets that are shown before the first different one."""
PS_PER_NS: Final = 1_000
HEAD: Final = ("A: time, µs", "packet", "B: time, µs", "packet")


class Packet(NamedTuple):
    """A packet as it left its sender; two runs have the same packet if all but the time is equal."""

    t_ns: float
    flow_id: str
    src: str
    dst: str
    kind: str
    psn: int | None
    transmission: int
    """1 for the first packet of this flow, kind and number."""
    notes: str
    """What happened to it: marked, dropped, corrupt."""

    @property
    def key(self) -> tuple[object, ...]:
        """Return what identifies it, and what happened to it."""
        return self[1:]

    @property
    def text(self) -> str:
        """Return the packet in words."""
        number = "" if self.psn is None else f" {self.psn}"
        again = f", transmission {self.transmission}" if self.transmission > 1 else ""
        return f"{self.src}->{self.dst} {self.kind}{number}{again}{self.notes}"


@dataclass(frozen=True, slots=True)
class Parting:
    """The first difference between two tables of packets."""

    flow_id: str
    a: Packet | None
    """None: the flow has no more packets in this direction."""
    b: Packet | None
    before_a: Sequence[Packet]
    """The last packets of the flow before it, in both directions."""
    before_b: Sequence[Packet]

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the lines of a table: the packets before, and the two that differ."""
        a, b = [*self.before_a, self.a], [*self.before_b, self.b]
        width = max(len(a), len(b))
        padded = ([*(None for _ in range(width - len(each))), *each] for each in (a, b))
        return [(*_fields(one), *_fields(other)) for one, other in zip_longest(*padded)]


class Compared(NamedTuple):
    """A cell of two runs."""

    cell: str
    packets: int
    """Of both runs that are the same."""
    parting: Parting | None
    """None if all packets are the same, in the same order in each direction of each flow."""

    @property
    def content(self) -> dict[str, object]:
        """Return the comparison as plain data."""
        parting = self.parting
        if parting is None:
            return {"cell": self.cell, "packets_equal": self.packets, "parting": None}
        found = {
            "flow_id": parting.flow_id,
            "a": parting.a and parting.a._asdict(),
            "b": parting.b and parting.b._asdict(),
            "before_a": [packet._asdict() for packet in parting.before_a],
            "before_b": [packet._asdict() for packet in parting.before_b],
        }
        return {"cell": self.cell, "packets_equal": self.packets, "parting": found}


def _fields(packet: Packet | None) -> tuple[str, str]:
    return ("", "none") if packet is None else (f"{packet.t_ns / 1000:.3f}", packet.text)


def compare_packets(run_a: Run, run_b: Run) -> list[Compared]:
    """Compare the cells that both runs have; ReportError if none has recorded packets in both."""
    done = [
        {cell.id: cell.seed for cell in run.manifest.cells if cell.status is CellStatus.OK}
        for run in (run_a, run_b)
    ]
    found = []
    for cell, seed in done[0].items():
        tables = [run.table(cell, "packets") for run in (run_a, run_b)]
        if done[1].get(cell) == seed and tables[0] is not None and tables[1] is not None:
            found.append(compare_tables(cell, tables[0], tables[1]))
    if not found:
        expected = "a cell with the same id and seed in both that recorded packets"
        got = f"compare --packets: got {run_a.directory} and {run_b.directory}"
        raise ReportError(f"{got}, expected {expected}; run both with --set measure=[packets]")
    return found


def compare_tables(cell: str, table_a: pd.DataFrame, table_b: pd.DataFrame) -> Compared:
    """Compare two tables of packets, each direction of each flow by itself."""
    own, other = _departures(table_a), _departures(table_b)
    same, partings = 0, []
    for direction in dict.fromkeys((each.flow_id, each.src) for each in (*own, *other)):
        sides = [[each for each in some if (each.flow_id, each.src) == direction] for some in (own, other)]
        pairs = list(zip_longest(*sides))
        equal = next((at for at, (x, y) in enumerate(pairs) if not (x and y and x.key == y.key)), len(pairs))
        same += equal
        if equal < len(pairs):
            a, b = pairs[equal]
            partings.append(_parting(direction[0], a, b, own, other))
    return Compared(cell, same, min(partings, key=_when, default=None))


def _when(parting: Parting) -> float:
    return min(each.t_ns for each in (parting.a, parting.b) if each is not None)


def _parting(
    flow_id: str, a: Packet | None, b: Packet | None, own: Sequence[Packet], other: Sequence[Packet]
) -> Parting:
    def before(packet: Packet | None, some: Sequence[Packet]) -> list[Packet]:
        flow = [each for each in some if each.flow_id == flow_id]
        return [each for each in flow if packet is None or each.t_ns < packet.t_ns][-BEFORE:]

    return Parting(flow_id, a, b, before(a, own), before(b, other))


def _departures(table: pd.DataFrame) -> list[Packet]:
    """Return each packet of a flow once, at the first port of its direction that was recorded, by time."""
    flows = table[table["flow_id"].notna()]
    found: list[Packet] = []
    for flow_id, rows in flows.groupby(flows["flow_id"].astype(str), sort=False):
        found += _of_flow(str(flow_id), list(packets_of(rows)))
    return sorted(found, key=lambda packet: packet.t_ns)


def _of_flow(flow_id: str, packets: Sequence[Recorded]) -> Iterator[Packet]:
    ports: dict[str, str] = {}
    counts: Counter[tuple[str, str, int]] = Counter()
    for each in packets:
        if ports.setdefault(each.src, each.port) != each.port:
            continue
        key = (each.src, each.kind, each.psn)
        counts[key] += 1
        found = {
            "marked": each.is_marked,
            "dropped": each.is_lost,
            "corrupt": "corrupt" in each.flags,
        }
        notes = "".join(f", {word}" for word, holds in found.items() if holds)
        psn = None if each.kind == "cnp" else each.psn
        yield Packet(each.t_ps / PS_PER_NS, flow_id, each.src, each.dst, each.kind, psn, counts[key], notes)
