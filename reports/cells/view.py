"""One finished cell, and quantities that several metrics and figures derive from its tables."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rogue.reports.cells.activity import Level, always_busy, delivered_between, levels_of, spans_of
from rogue.reports.cells.transfers import Mask, Transfers, coded, transfers_of
from rogue.reports.reading.load import Run
from rogue.workloads.manifest import CellRecord
from rogue.workloads.records import TransferStatus

# Goodput is read over the longest of these that fits at least INTERVALS_MIN times into the traffic.
INTERVALS_NS = (1_000_000_000, 100_000_000, 10_000_000, 1_000_000)
INTERVALS_MIN = 5
# A window begins at a whole sample if the first flow starts within this fraction of one after it.
START_TOLERANCE = 0.01
P = ParamSpec("P")
T = TypeVar("T")
# The event of a queue pair that went to the error state.
QP_FAILED = "qp_failed"


@dataclass(frozen=True, slots=True)
class Window:
    """The time over which a cell is measured.

    If all flows start together and always have work, it lasts from the start of the traffic until the first
    flow is done. A flow that failed or was busy at the end of the run is not done, so its silence counts as
    zero. If flows come and go, it is the whole traffic.
    """

    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        """Return the length of the window."""
        return self.end_ns - self.start_ns

    def holds(self, t_ns: NDArray[np.int64]) -> Mask:
        """Return a mask of the samples in the window; a sample covers the time before it."""
        return (t_ns > self.start_ns) & (t_ns <= self.end_ns)


def once_per_cell(derive: Callable[Concatenate["CellView", P], T]) -> Callable[Concatenate["CellView", P], T]:
    """Cache a function of a cell per cell and arguments: many metrics share it."""

    @wraps(derive)
    def of_cell(view: "CellView", /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (derive, *args, *kwargs.items())
        if key not in view.derived:
            view.derived[key] = derive(view, *args, **kwargs)
        value: T = view.derived[key]
        return value

    return of_cell


class CellView:
    """The tables of one cell, and the quantities that all metrics must derive in the same way."""

    def __init__(self, run: Run, entry: CellRecord) -> None:
        self.run = run
        self.entry = entry
        self.derived: dict[tuple[object, ...], Any] = {}
        """Cache of `once_per_cell`."""

    def table(self, name: str) -> pd.DataFrame | None:
        """Return a table of the cell; None if it is missing, unusable or empty."""
        frame = self.run.table(self.entry.id, name)
        return None if frame is None or frame.empty else frame

    def has(self, tables: tuple[str, ...]) -> bool:
        """True if all these tables have rows."""
        return all(self.run.rows(self.entry.id, name) > 0 for name in tables)

    @cached_property
    def transfers(self) -> Transfers | None:
        """Return the transfers of the traffic; None without a table of flows."""
        flows = self.table("flows")
        return None if flows is None else transfers_of(flows)

    @property
    def flow_ids(self) -> tuple[str, ...]:
        """Return the flows of the traffic in a fixed order, without probes of size 0."""
        return () if self.transfers is None else self.transfers.flow_ids

    @cached_property
    def failed_flow_ids(self) -> tuple[str, ...]:
        """Return the flows with a failed queue pair, also if they recovered."""
        flows, events = self.table("flows"), self.table("events")
        if flows is None:
            return ()
        failed = coded(flows["flow_id"]).rows_of(coded(flows["status"]).are(TransferStatus.ERROR))
        if events is not None:
            failed |= coded(events["flow_id"]).rows_of(coded(events["event"]).are(QP_FAILED))
        return tuple(flow_id for flow_id in self.flow_ids if flow_id in failed)

    @property
    def ideal_share_bps(self) -> float | None:
        """Return the equal share of each flow in the bottleneck's payload rate."""
        ideal_bps = self.entry.number("ideal_goodput_bps")
        return ideal_bps / len(self.flow_ids) if ideal_bps and self.flow_ids else None

    @cached_property
    def deliveries(self) -> pd.DataFrame | None:
        """Return the throughput rows of the flows in `flow_ids`."""
        rows = self.table("throughput")
        if rows is None:
            return None
        flows = coded(rows["flow_id"])
        carries = np.isin(flows.names, self.flow_ids)[flows.codes]
        return _none_if_empty(_selected(rows, carries & (rows["interval_ns"].to_numpy() > 0)))

    @cached_property
    def samples(self) -> pd.DataFrame | None:
        """Return those of these rows that cover a whole interval."""
        rows = self.deliveries
        if rows is None:
            return None
        lengths_ns = rows["interval_ns"].to_numpy()
        return _selected(rows, lengths_ns == lengths_ns.max())

    @cached_property
    def delivered_bytes_of_flows(self) -> NDArray[np.float64] | None:
        """Return the payload that each flow delivered in the window, in the order of `flow_ids`."""
        window = self.window
        if window is None:
            return None
        return self.delivered_between(np.array([window.start_ns, window.end_ns]))[:, 0]

    def delivered_between(self, edges_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the payload of each flow (rows) between neighbouring edges (columns)."""
        assert self.deliveries is not None, "called only with rows"
        return delivered_between(self.deliveries, self.flow_numbers, len(self.flow_ids), edges_ns)

    @cached_property
    def all_delivered_bytes_of_flows(self) -> NDArray[np.float64] | None:
        """Return the same over all rows, inside the window or not."""
        rows = self.deliveries
        if rows is None:
            return None
        payload_bytes = rows["delivered_bytes"].to_numpy()
        sums = np.bincount(self.flow_numbers, payload_bytes, minlength=len(self.flow_ids))
        return sums.astype(np.float64, copy=False)

    @cached_property
    def flow_numbers(self) -> NDArray[np.int64]:
        """Return for each row of `deliveries` the place of its flow in `flow_ids`."""
        assert self.deliveries is not None, "called only with rows"
        flows = coded(self.deliveries["flow_id"])
        places = {flow_id: place for place, flow_id in enumerate(self.flow_ids)}
        of_codes = np.array([places.get(flow_id, -1) for flow_id in flows.names], dtype=np.int64)
        return of_codes[flows.codes]

    @cached_property
    def spans(self) -> dict[str, tuple[int, int]]:
        """Return first start and last end (ns) of each flow, in the order of `flow_ids`."""
        return {} if self.transfers is None else spans_of(self.transfers, self.end_ns)

    @cached_property
    def end_ns(self) -> int:
        """Return the end of the run according to its tables."""
        flows, rows = self.table("flows"), self.deliveries
        moments = [self.entry.number("simulated_ns")]
        moments += [] if flows is None else [flows["start_ns"].max(), flows["end_ns"].max()]
        moments += [] if rows is None else [rows["t_ns"].max()]
        return max((int(t) for t in moments if pd.notna(t)), default=0)

    @cached_property
    def is_always_busy(self) -> bool:
        """True if every flow has work from its first transfer to its last."""
        return bool(self.transfers and always_busy(self.transfers, self.spans))

    @cached_property
    def is_simultaneous(self) -> bool:
        """True if all flows start within one sample and always have work, so that they are comparable."""
        rows, starts = self.deliveries, [start for start, _ in self.spans.values()]
        if rows is None or not starts:
            return False
        return max(starts) - min(starts) <= int(rows["interval_ns"].max()) and self.is_always_busy

    @cached_property
    def levels(self) -> list[Level]:
        """Return the levels between arrivals and departures; none if flows start and stop continually."""
        return levels_of(self.spans) if self.spans and self.is_always_busy else []

    @cached_property
    def was_over_at_once(self) -> bool:
        """True if all traffic was over before the first sample, which then has no rate."""
        rows, ends_ns = self.deliveries, [end_ns for _, end_ns in self.spans.values()]
        return rows is not None and bool(ends_ns) and max(ends_ns) < int(rows["interval_ns"].max())

    @cached_property
    def window(self) -> Window | None:
        """Return the time over which the cell is measured; None without samples.

        It begins with the first flow. It ends when the first flow is done if all begin together, else with
        the last one. A rate is payload over this time, a share that rate over the ideal one. It consists of
        whole samples, except at a flow's start and at the end of the run.
        """
        rows = self.deliveries
        if rows is None or not self.spans or self.was_over_at_once:
            return None
        sample_ns, end_ns = int(rows["interval_ns"].max()), int(rows["t_ns"].max())
        start_ns = min(start for start, _ in self.spans.values()) // sample_ns * sample_ns
        first_ns = int((rows["t_ns"] - rows["interval_ns"]).min())
        if first_ns - start_ns > START_TOLERANCE * sample_ns:
            start_ns = first_ns
        if self.is_simultaneous:
            done = [end for flow_id, (_, end) in self.spans.items() if flow_id in self._done_flow_ids]
            end_ns = min([end_ns, *(end // sample_ns * sample_ns for end in done)])
        else:
            last_ns = max(end for _, end in self.spans.values())
            end_ns = min(end_ns, -(-last_ns // sample_ns) * sample_ns)
        return Window(start_ns, end_ns) if end_ns > start_ns else None

    @cached_property
    def _done_flow_ids(self) -> set[str]:
        transfers = self.transfers
        if transfers is None:
            return set()
        _, last = transfers.ends_of_flows()
        is_done = transfers.is_ok[last] & ~np.isnan(transfers.end_ns[last])
        return {flow_id for flow_id, done in zip(transfers.flow_ids, is_done, strict=True) if done}

    def goodput(self, interval_ns: int) -> pd.DataFrame | None:
        """Return bit/s per whole interval of the window (rows, by end in ns) and flow (columns).

        None if the window is shorter than the interval, or if the samples are coarser than it.
        """
        return None if self.window is None else self.goodput_within(self.window, interval_ns)

    @once_per_cell
    def goodput_within(self, window: Window, interval_ns: int) -> pd.DataFrame | None:
        """Return the same for any window."""
        rows = self.deliveries
        if rows is None or interval_ns < int(rows["interval_ns"].max()):
            return None
        count = window.duration_ns // interval_ns
        if count <= 0:
            return None
        edges_ns = window.start_ns + interval_ns * np.arange(count + 1)
        delivered = self.delivered_between(edges_ns).T
        return pd.DataFrame(delivered * 8e9 / interval_ns, index=edges_ns[1:], columns=list(self.flow_ids))

    @cached_property
    def bottleneck_port(self) -> tuple[str, int] | None:
        """Return port and priority of the bottleneck's queue.

        The testbed names the bottleneck of all flows; if they share none, it is the port with the longest
        mean queue. Priorities of a port are not added up: of several it is the one with the longest mean
        queue.
        """
        queues = self.table("queues")
        if queues is None:
            return None
        port = self.entry.facts.get("bottleneck_port")
        is_named = coded(queues["port"]).are(str(port))
        priorities = np.unique(queues["priority"].to_numpy()[is_named])
        if len(priorities) == 1:
            return str(port), int(priorities[0])
        queues = queues[is_named] if len(priorities) else queues
        means = queues.groupby(["port", "priority"], observed=True, as_index=False)["bytes"].mean()
        longest = means.iloc[int(means["bytes"].to_numpy().argmax())]
        return str(longest["port"]), int(longest["priority"])

    @property
    def load_window(self) -> Window | None:
        """Return the time of load: while flows have work, or while transfers arrive.

        Random arrivals count from the end of the warm-up to the last arrival, without draining.
        """
        arriving_ns = self.entry.number("arriving_ns")
        if arriving_ns is None:
            return self.whole_window if self.was_over_at_once else self.window
        return Window(int(self.entry.number("warm_up_ns") or 0), int(arriving_ns))

    @cached_property
    def bottleneck_queue(self) -> pd.DataFrame | None:
        """Return the samples of the bottleneck's queue during the load."""
        return self._queue_within(self.load_window)

    @cached_property
    def whole_bottleneck_queue(self) -> pd.DataFrame | None:
        """Return the samples of the bottleneck's queue during all traffic."""
        return self._queue_within(self.whole_window)

    @property
    def whole_window(self) -> Window | None:
        """Return the time of all traffic: from the first start until the last flow is done."""
        ends = self.spans.values()
        return Window(min(start for start, _ in ends), max(end for _, end in ends)) if ends else None

    def _queue_within(self, window: Window | None) -> pd.DataFrame | None:
        queues, bottleneck = self.table("queues"), self.bottleneck_port
        if queues is None or bottleneck is None:
            return None
        port, priority = bottleneck
        wanted = coded(queues["port"]).are(port) & (queues["priority"].to_numpy() == priority)
        if window is not None:
            wanted &= window.holds(queues["t_ns"].to_numpy())
        return _none_if_empty(_selected(queues, wanted))


def _selected(rows: pd.DataFrame, mask: Mask) -> pd.DataFrame:
    """Return the rows that a mask selects: the table itself if these are all."""
    return rows if mask.all() else rows[mask]


def _none_if_empty(rows: pd.DataFrame) -> pd.DataFrame | None:
    return None if rows.empty else rows


def common_interval_ns(views: list[CellView]) -> int:
    """Return the common interval of goodput of these cells.

    It is the same for all cells of a run: the first of INTERVALS_NS that is at least as long as a sample and
    fits INTERVALS_MIN times into the shortest time of measurement.
    """
    windows = [view.window.duration_ns for view in views if view.window is not None]
    samples = [int(view.deliveries["interval_ns"].max()) for view in views if view.deliveries is not None]
    shortest_ns, sample_ns = min(windows, default=0), max(samples, default=0)
    allowed = [length for length in INTERVALS_NS if length >= sample_ns] or [sample_ns]
    fitting = [length for length in allowed if shortest_ns >= INTERVALS_MIN * length]
    return fitting[0] if fitting else allowed[-1]


def loads_by_role(view: CellView) -> dict[str, NDArray[np.float64]]:
    """Return the busy cores of each host while the traffic lasts, by the role of the host."""
    flows, cpu = view.table("flows"), view.table("cpu")
    assert flows is not None and cpu is not None, "only cells with flows and recorded hosts are drawn"
    is_read = flows["verb"].astype(str) == "read"
    source, destination = flows["src"].astype(str), flows["dst"].astype(str)
    ends = {"client": source.where(~is_read, destination), "server": destination.where(~is_read, source)}
    means = cpu.astype({"host": str}).groupby("host")["busy_cores"].mean()
    return {
        role: means[means.index.isin(set(hosts))].to_numpy(dtype=np.float64) for role, hosts in ends.items()
    }
