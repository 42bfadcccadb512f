"""Build the record tables from a finished simulation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rogue.agent.core.actions import RttSample
from rogue.agent.drivers.simulated import QueuePairProgress
from rogue.harness.cell.cell import Cell
from rogue.harness.cell.timing import SECOND_NS
from rogue.harness.testbeds.base import Columns
from rogue.harness.testbeds.simulator.flows import RunningFlow
from rogue.harness.testbeds.simulator.network import (
    PICOSECONDS,
    SimulatedNetwork,
    control_table,
    packets_table,
)
from rogue.harness.testbeds.simulator.packet_events import packet_event_rows
from rogue.harness.testbeds.simulator.yardsticks import yardsticks
from rogue.harness.testbeds.transfer_tables import Transfers, events_table, flows_table, latency_table
from rogue.workloads.records import ColumnType, EventRow, RttRow, columns_of_rows

NicColumns = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]
Array = NDArray[Any]

_TYPES: Mapping[tuple[ColumnType, bool], type] = {
    ("int64", False): np.int64,
    ("int64", True): np.float64,
    ("float64", False): np.float64,
    ("float64", True): np.float64,
    ("bool", False): np.bool_,
}
"""By type and whether nulls are among the values; the others are objects."""
_SAMPLE_TYPES = {
    column.name: _TYPES.get((column.type, column.nullable), np.object_) for column in columns_of_rows(RttRow)
}


def queues_of_switches(cell: Cell, queues: NicColumns) -> NicColumns:
    """Return the table of queues without those of NICs."""
    nics = _nics(cell)
    return _filtered(queues, "node", lambda node: node not in nics) if nics else queues


def pauses_of_links(cell: Cell, pauses: NicColumns) -> NicColumns:
    """Return the table of pauses without those between a host and its NIC."""
    nics = _nics(cell)
    if not nics:
        return pauses
    hosts = cell.topology.host_names()
    own = [(host, nic) for host in hosts for nic in cell.topology.links_of[host] if nic in nics]
    inside = {f"{a}->{b}" for host, nic in own for a, b in ((host, nic), (nic, host))}
    return _filtered(pauses, "port", lambda port: port not in inside)


def _nics(cell: Cell) -> set[str]:
    return {switch.name for switch in cell.network.switches if switch.is_nic}


def _filtered(table: NicColumns, column: str, accepts: Callable[[str], bool]) -> NicColumns:
    is_kept = np.array([accepts(str(each)) for each in table[column]], dtype=bool)
    return {name: values[is_kept] for name, values in table.items()}


class ResentBytes:
    """Retransmitted payload of each flow: totals of NIC and software, read at chosen instants."""

    def __init__(self, network: SimulatedNetwork, *, is_wanted: bool = True) -> None:
        self._network = network
        self._is_wanted = is_wanted
        self._t_ns = [0]
        self._places = [0]
        """For each instant, the index of its totals in `_totals`; unchanged totals are stored once."""
        self._totals = [np.zeros(len(network.flows), np.int64)]

    def read(self) -> None:
        """Read every flow's counter now, if the cell measures it."""
        if not self._is_wanted:
            return
        flows = self._network.flows
        totals = np.fromiter((flow.agent.retransmitted_bytes for flow in flows), np.int64, len(flows))
        if not np.array_equal(totals, self._totals[-1]):
            self._totals.append(totals)
        self._t_ns.append(self._network.simulation.now_ns)
        self._places.append(len(self._totals) - 1)

    def within(self, flow: Integers, starts_ns: Integers, ends_ns: Integers) -> NDArray[np.float64]:
        """Return bytes sent again in each interval by a flow, by its number in the network.

        NaN where the counter was not read at both ends of an interval.
        """
        totals = np.array(self._totals, np.float64)
        starts, ends = self._read_at(starts_ns), self._read_at(ends_ns)
        places = np.array(self._places)
        resent = totals[places[ends], flow] - totals[places[starts], flow]
        return np.where((starts >= 0) & (ends >= 0), resent, np.nan)

    def _read_at(self, t_ns: Integers) -> NDArray[np.intp]:
        """Return the number of the last reading at an instant; -1 if there is none."""
        place = np.searchsorted(self._t_ns, t_ns, side="right") - 1
        return np.where(np.array(self._t_ns)[place] == t_ns, place, -1)


def collect_tables(cell: Cell, network: SimulatedNetwork, resent: ResentBytes) -> dict[str, Columns]:
    """Return every requested table that the simulator can fill."""
    measures = cell.experiment.measures
    tables = {
        "flows": flows_table(transfers_of(network.flows), yardsticks(cell, network)),
        "counters": counters_table(network),
        "events": events_table(cell, network.simulation.now_ns, _events(cell, network)),
    }
    samples: dict[str, Samples] = {}
    if measures("throughput") or measures("rtt"):
        nothing = columns_of_samples(())
        rows = ((flow.flow_id, flow.agent.rtt_samples) for flow in network.flows)
        samples = {flow_id: columns_of_samples(own) if own else nothing for flow_id, own in rows}
    if measures("throughput") and network.flows:
        tables["throughput"] = throughput_table(cell, network, samples, resent)
    if measures("latency") and network.probes:
        tables["latency"] = latency_table(transfers_of(network.probes))
    if measures("queues"):
        tables["queues"] = queues_of_switches(cell, network.simulation.queue_table())
    if measures("pauses"):
        tables["pauses"] = pauses_of_links(cell, network.simulation.pause_table())
    if measures("packets"):
        tables["packets"] = packets_table(network.simulation, (*network.flows, *network.probes))
    if network.nic_controls is not None:
        control = control_table(network.flows, network.nic_controls)
        tables |= {"control": control} if len(control["t_ns"]) else {}
    if measures("rtt") and has_estimator(network):
        tables["rtt"] = rtt_table(network, samples)
    return tables


def has_estimator(network: SimulatedNetwork) -> bool:
    """Return True if any agent estimates RTTs."""
    return any(flow.settings.estimator for flow in network.flows)


def transfers_of(flows: Sequence[RunningFlow]) -> Transfers:
    """Yield transfers by flow, in order."""
    return ((flow, transfer) for flow in flows for transfer in flow.transfers)


def _events(cell: Cell, network: SimulatedNetwork) -> Iterator[EventRow]:
    yield from packet_event_rows(cell, network.simulation)
    for flow in (*network.flows, *network.probes):
        yield from (EventRow(flow.flow_id, *event) for event in flow.agent.events)


def counters_table(network: SimulatedNetwork) -> Columns:
    """Return the counters at the end; a simulated network starts with zeros."""
    table = network.simulation.counter_table()
    order = np.lexsort([_places(table[name]) for name in ("name", "port", "node")])
    sorted_table = {name: column[order] for name, column in table.items()}
    after = sorted_table.pop("value")
    return {**sorted_table, "before": np.zeros_like(after), "after": after}


def _places(words: Array) -> Integers:
    place = {word: number for number, word in enumerate(sorted(set(words.tolist())))}
    return np.array([place[word] for word in words.tolist()], np.int64)


Samples = Mapping[str, Array]
"""RTT samples of one flow by column; a missing number is NaN."""


def columns_of_samples(rows: Sequence[RttSample]) -> Samples:
    """Return an array for each field of the samples, of the type that the table `rtt` has for it."""
    values = zip(*rows, strict=True) if rows else ((),) * len(RttSample._fields)
    return {
        name: np.array(column, _SAMPLE_TYPES[name])
        for name, column in zip(RttSample._fields, values, strict=True)
    }


def throughput_table(
    cell: Cell, network: SimulatedNetwork, samples: dict[str, Samples], resent: ResentBytes
) -> Columns:
    """Return delivered and repeated payload per flow and interval, with the agent's estimates."""
    delivered = delivered_by_flows(network.simulation.throughput_table(), network.flows)
    flow, ends_ns, interval_ns = delivered.pop("flow"), delivered["t_ns"], delivered["interval_ns"]
    starts_ns = ends_ns - interval_ns
    cwnd_over_rtt_bps, limiter_bps = (np.full(len(flow), np.nan) for _ in range(2))
    for number in np.unique(flow):
        own = samples[network.flows[number].flow_id]
        if len(own["t_ns"]):
            rows = slice(*np.searchsorted(flow, (number, number + 1)))
            mtu_bytes = cell.topology.mtu_bytes
            cwnd_over_rtt_bps[rows] = mean_estimate_bps(own, starts_ns[rows], ends_ns[rows], mtu_bytes)
            limiter_bps[rows] = _limiter_at(own, ends_ns[rows])
    return {
        **delivered,
        "flow_id": _by_flow(network.flows, flow, lambda each: each.flow_id),
        "src": _by_flow(network.flows, flow, lambda each: each.flow.source),
        "dst": _by_flow(network.flows, flow, lambda each: each.flow.destination),
        "goodput_bps": delivered["delivered_bytes"] * (8.0 * SECOND_NS) / interval_ns,
        "cwnd_over_rtt_bps": cwnd_over_rtt_bps,
        "limiter_bps": limiter_bps,
        "retransmitted_bytes": resent.within(flow, starts_ns, ends_ns),
    }


def _by_flow(flows: Sequence[RunningFlow], numbers: Integers, word_of: Callable[[RunningFlow], str]) -> Array:
    return np.array([word_of(flow) for flow in flows], np.object_)[numbers]


def delivered_by_flows(table: Mapping[str, Integers], flows: Sequence[RunningFlow]) -> dict[str, Integers]:
    """Return the columns of `table`, the engine's by queue pair and interval, added up for each flow.

    Rows are in the order of `flow`, the flow's number in the network, and then of time. Bytes that a lost
    queue pair had delivered, and its shadow delivers again, count once.
    """
    owned = sorted((qp_num, number) for number, flow in enumerate(flows) for qp_num in flow.qp_nums)
    qp_nums, owners = np.array(owned, np.int64).T
    place = np.minimum(np.searchsorted(qp_nums, table["qp_num"]), len(qp_nums) - 1)
    rows = np.flatnonzero(qp_nums[place] == table["qp_num"])
    flow, ends_ns = owners[place[rows]], table["t_ns"][rows]
    order = np.lexsort((ends_ns, flow))
    rows, flow, ends_ns = rows[order], flow[order], ends_ns[order]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (flow[1:] != flow[:-1]) | (ends_ns[1:] != ends_ns[:-1])
    first = np.flatnonzero(is_first)
    result = {"flow": flow[first], "t_ns": ends_ns[first], "interval_ns": table["interval_ns"][rows[first]]}
    counted = [name for name in table if name not in ("qp_num", *result)]
    result |= {name: np.add.reduceat(table[name][rows], first) for name in counted}
    for number in [number for number, each in enumerate(flows) if each.qp_periods]:
        own = slice(*np.searchsorted(flow, (number, number + 1)))
        part = slice(*np.searchsorted(result["flow"], (number, number + 1)))
        columns = {name: table[name][rows[own]] for name in ("qp_num", "t_ns", "delivered_bytes")}
        is_new = new_bytes(columns, flows[number].qp_periods, result["t_ns"][part])
        result["delivered_bytes"][part] = is_new
    return result


def new_bytes(
    table: Mapping[str, Integers], qp_periods: Sequence[QueuePairProgress], ends_ns: Integers
) -> Integers:
    """Return the bytes that no queue pair of a flow had delivered before, per interval.

    In each period one queue pair delivers the flow's bytes in order, starting at the first byte that was not
    completed before the period. At any instant the flow has as many bytes as the period that got furthest.
    """
    furthest = np.zeros(len(ends_ns), np.int64)
    for number, period in enumerate(qp_periods):
        own = table["qp_num"] == period.qp_num
        place = np.searchsorted(table["t_ns"][own], ends_ns, side="right")
        totals = np.append(0, np.cumsum(table["delivered_bytes"][own]))[place]
        later = (each.delivered_bytes for each in qp_periods[number + 1 :] if each.qp_num == period.qp_num)
        delivered = np.minimum(totals, next(later, np.iinfo(np.int64).max)) - period.delivered_bytes
        has_begun = delivered > 0
        furthest[has_begun] = np.maximum(furthest, period.completed_bytes + delivered)[has_begun]
    return np.diff(np.maximum.accumulate(furthest), prepend=0)


def mean_estimate_bps(samples: Samples, starts_ns: Integers, ends_ns: Integers, mtu_bytes: int) -> Array:
    """Return the mean of cwnd/RTT over each interval's accepted samples with an RTT above zero."""
    accepted = np.flatnonzero(samples["accepted"] & (samples["rtt_ns"] > 0))
    t_ns = samples["t_ns"][accepted]
    estimate_bps = (
        samples["cwnd_packets"][accepted] * (8.0 * SECOND_NS * mtu_bytes) / samples["rtt_ns"][accepted]
    )
    sums = np.concatenate([[0.0], np.cumsum(estimate_bps)])
    first, last = (np.searchsorted(t_ns, edge_ns, side="right") for edge_ns in (starts_ns, ends_ns))
    counts = last - first
    return np.where(counts > 0, (sums[last] - sums[first]) / np.maximum(counts, 1), np.nan)


def _limiter_at(samples: Samples, t_ns: Integers) -> Array:
    with_none = np.concatenate([[np.nan], samples["limiter_bps"]])
    return with_none[np.searchsorted(samples["t_ns"], t_ns, side="right")]


def rtt_table(network: SimulatedNetwork, samples: dict[str, Samples]) -> Columns:
    """Return the agents' samples, each beside the true value."""
    oracle = network.simulation.oracle_table()
    order = np.argsort(oracle["qp_num"], kind="stable")
    qp_nums = oracle["qp_num"][order]
    parts: list[dict[str, Array]] = []
    for running in network.flows:
        own = samples[running.flow_id]
        firsts, ends = (np.searchsorted(qp_nums, running.qp_nums, side=side) for side in ("left", "right"))
        own_rows = [order[first:end] for first, end in zip(firsts, ends, strict=True)]
        true_rtt_ns = _true_rtt_ns(oracle, np.sort(np.concatenate(own_rows)), own["wr_id"])
        flow_id = np.full(len(true_rtt_ns), running.flow_id, np.object_)
        parts.append({**own, "flow_id": flow_id, "true_rtt_ns": true_rtt_ns})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _true_rtt_ns(oracle: dict[str, Integers], rows: NDArray[np.intp], wr_ids: Integers) -> Array:
    """Return completion minus last byte out of the NIC per verb; NaN for verbs unknown to the simulator.

    No two verbs of a flow have the same number, whichever queue pair they are on.
    """
    rows = rows[np.argsort(oracle["wr_id"][rows], kind="stable")]
    known = np.append(oracle["wr_id"][rows], -1)
    true_ns = np.append(
        np.rint((oracle["t_comp_ps"][rows] - oracle["t_last_ps"][rows]) / PICOSECONDS), np.nan
    )
    found = np.searchsorted(known[:-1], wr_ids)
    return np.where(known[found] == wr_ids, true_ns[found], np.nan)
