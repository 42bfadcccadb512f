"""The bottleneck of a cell, and the utilisation of its links between switches."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from pydantic import ValidationError

from rogue.reports.cells.transfers import coded
from rogue.reports.cells.view import CellView, once_per_cell
from rogue.reports.quantities import size_text
from rogue.workloads.framing import FRAMINGS, ROCEV2, Packets
from rogue.workloads.topologies import TOPOLOGIES, Topology
from rogue.workloads.transports import TransportNameError, full_packets, parse_transport


@once_per_cell
def packets_of_flows(view: CellView) -> dict[str, Packets]:
    """Return the full packets of each flow of the traffic, in the order of `flow_ids`.

    Empty if the packet size is unknown, or the transport is not in the catalogue.
    """
    flows, mtu_bytes = view.table("flows"), view.entry.number("mtu_bytes")
    if flows is None or not mtu_bytes:
        return {}
    framing = FRAMINGS.get(str(view.entry.facts.get("framing")), ROCEV2)
    names, own = _transports_of_groups(view), view.entry.transport_name
    groups = _group_of_flows(flows)
    try:
        parsed = {
            group: parse_transport(names.get(group.partition(".")[0], own)) for group in set(groups.values())
        }
    except TransportNameError:
        return {}
    packets = {
        group: full_packets(name, list(parsed.values()), framing, int(mtu_bytes))
        for group, name in parsed.items()
    }
    return {flow_id: packets[groups[flow_id]] for flow_id in view.flow_ids}


def _group_of_flows(flows: pd.DataFrame) -> dict[str, str]:
    ids, groups = coded(flows["flow_id"]), coded(flows["group"])
    codes, first = np.unique(ids.codes, return_index=True)
    return {ids.names[code]: groups.names[groups.codes[row]] for code, row in zip(codes, first, strict=True)}


def _transports_of_groups(view: CellView) -> dict[str, str]:
    """Return the transports of the traffic groups that set one."""
    groups = view.run.manifest.experiment.get("traffic")
    return {
        str(group.get("name")): str(group["transport"])
        for group in (groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and group.get("transport")
    }


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """The port with the most queued bytes."""

    port: str
    share: float
    """Share of all bytes queued at switches, over time."""
    longest_bytes: int
    dropped: int
    marked: int


@once_per_cell
def bottleneck_of(view: CellView) -> Bottleneck | None:
    """Return the port with the largest mean queue; None if no packet waits."""
    queues = view.table("queues")
    if queues is None:
        return None
    ports = queues.groupby("port", observed=True)
    waiting = ports["bytes"].sum()
    if not waiting.any():
        return None
    port = str(waiting.idxmax())
    own = queues[queues["port"] == port]
    share = float(waiting[port] / waiting.sum())
    return Bottleneck(
        port, share, int(own["max_bytes"].max()), int(own["drops"].sum()), int(own["marks"].sum())
    )


def bottleneck_sentence(view: CellView) -> str:
    """Name the bottleneck and the evidence for it."""
    found = bottleneck_of(view)
    if found is None:
        return _without(view)
    paused_ns = _paused_ns(view.table("pauses"), found.port)
    share = np.floor(found.share * 100)
    evidence = [f"{share:.0f} % of what waits at switches, {size_text(found.longest_bytes)} at most"]
    evidence += [f"{found.dropped} packets dropped"] if found.dropped else []
    evidence += [f"{found.marked} marked"] if found.marked else []
    evidence += [f"itself paused for {paused_ns / 1e6:.3g} ms"] if paused_ns else []
    if paused_ns:
        return f"most waits at {found.port} ({', '.join(evidence)}): what pauses it is the bottleneck"
    return f"{found.port} is the bottleneck ({', '.join(evidence)})"


def _without(view: CellView) -> str:
    """Describe a cell without queued packets in any sample."""
    queues = view.table("queues")
    longest_bytes = 0 if queues is None else int(queues["max_bytes"].max())
    if longest_bytes:
        return f"nothing waited at any sampled instant, and at most {size_text(longest_bytes)} in between"
    return "nothing waited at any switch, so the hosts’ own links are the limit"


def _paused_ns(pauses: pd.DataFrame | None, port: str) -> int:
    return 0 if pauses is None else int(pauses.loc[pauses["port"] == port, "duration_ns"].sum())


SENT: Final = "tx_bytes"
PART: Final = "topology."
"""The prefix of factors that change the network."""


@once_per_cell
def uses(view: CellView) -> dict[str, float]:
    """Return the utilisation of each link between switches while there was traffic."""
    counters, spans, topology = view.table("counters"), view.spans.values(), topology_of(view)
    if counters is None or not spans or topology is None:
        return {}
    traffic_ns = max(end for _, end in spans) - min(start for start, _ in spans)
    switches = {*topology.switch_names()}
    rates_bps = {
        f"{a}->{b}": link.rate_bps
        for link in topology.links()
        for a, b in ((link.a, link.b), (link.b, link.a))
        if {a, b} <= switches
    }
    sent = counters[(counters["name"] == SENT) & counters["port"].isin(rates_bps)]
    bits = 8 * (sent["after"] - sent["before"])
    return {
        str(port): float(each) * 1e9 / (rates_bps[str(port)] * max(traffic_ns, 1))
        for port, each in zip(sent["port"], bits, strict=True)
    }


def topology_of(view: CellView) -> Topology | None:
    """Return the cell's network; None if it is from a file or a plug-in."""
    written = view.run.manifest.source.data.get("topology")
    topology = TOPOLOGIES.get(str(written.get("kind"))) if isinstance(written, dict) else None
    if topology is None or not isinstance(written, dict):
        return None
    factors = view.entry.factors.items()
    changes = {key.removeprefix(PART): value for key, value in factors if key.startswith(PART)}
    try:
        return topology.model_validate({**written, **changes})
    except ValidationError:
        return None
